// What a process has opened, to be closed in reverse order.
import type { Log } from '../process/log.ts';

/** Remembers how to close something, and returns it. */
export type Opened = <Thing>(thing: Thing, close: (thing: Thing) => Promise<void>) => Thing;

export function trackOpened(log: Log): { opened: Opened; closeAll(): Promise<void> } {
  const closers: (() => Promise<void>)[] = [];
  return {
    opened(thing, close) {
      closers.unshift(() => close(thing));
      return thing;
    },
    async closeAll() {
      for (const close of closers.splice(0)) {
        await close().catch((error) => log.error({ err: error }, 'could not stop cleanly'));
      }
    },
  };
}
