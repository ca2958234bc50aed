// A worker's rest between two looks at its queue: for a while, or until somebody knows that there
// is something to do.

export interface Nap {
  /**
   * Waits for `ms` or for `wake`, whichever is first. A wake since the last rest counts: nothing is
   * slept through.
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
