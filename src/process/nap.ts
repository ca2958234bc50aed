// A worker's pause between two checks of its queue: for a time, or until it is woken because there
// is work.

export interface Nap {
  /**
   * Waits for `ms` or for `wake`, whichever comes first. A wake since the last rest counts: none is
   * missed.
   */
  rest(ms: number): Promise<void>;
  wake(): void;
}

export function createNap(): Nap {
  let end: (() => void) | undefined;
  let woken = false;
  return {
    rest(ms) {
      if (woken) {
        woken = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => end?.(), ms);
        end = () => {
          clearTimeout(timer);
          end = undefined;
          resolve();
        };
      });
    },
    wake() {
      if (end) end();
      else woken = true;
    },
  };
}
