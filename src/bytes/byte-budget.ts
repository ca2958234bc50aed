// A byte budget: how much memory large things may take together. What does not fit waits in a
// queue: backpressure, not errors.

export interface ByteBudget {
  /**
   * Resolves when there is room; call the result to give it back. A request for more than the whole
   * budget waits for all of it.
   */
  take(bytes: number): Promise<() => void>;
}

export function createByteBudget(total: number): ByteBudget {
  let free = total;
  const line: { bytes: number; go: () => void }[] = [];

  function admit(): void {
    while (line[0] !== undefined && line[0].bytes <= free) {
      const next = line.shift()!;
      free -= next.bytes;
      next.go();
    }
  }

  return {
    take(wanted) {
      const bytes = Math.min(wanted, total);
      return new Promise((resolve) => {
        line.push({ bytes, go: () => resolve(giveBackOnce(bytes)) });
        admit();
      });
    },
  };

  function giveBackOnce(bytes: number): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      free += bytes;
      admit();
    };
  }
}
