// What ended before it was done: thrown by threads/pool.ts, put into words by the feature whose
// work it was.

/** The work was given up: it took too long, or more memory than it may have. */
export class JobStopped extends Error {
  readonly reason: 'time' | 'memory';
  constructor(reason: JobStopped['reason']) {
    super(reason === 'time' ? 'it took too long' : 'it took too much memory');
    this.reason = reason;
  }
}
