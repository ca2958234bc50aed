// Work that was ended before it was done: thrown by threads/pool.ts, worded by the feature it
// belongs to.

/** The work was stopped: it took too much time or memory. */
export class JobStopped extends Error {
  readonly reason: 'time' | 'memory';
  constructor(reason: JobStopped['reason']) {
    super(reason === 'time' ? 'it took too long' : 'it took too much memory');
    this.reason = reason;
  }
}
