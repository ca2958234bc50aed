// Work that a process repeats, such as polling the database: started by a timer, never twice at
// once, and awaited when it stops.

export function repeatedly(
  everyMs: number,
  work: () => Promise<unknown>,
  failed: (error: unknown) => void,
): { stop(): Promise<void> } {
  let working: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    working ??= work()
      .catch(failed)
      .finally(() => {
        working = undefined;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await working;
    },
  };
}
