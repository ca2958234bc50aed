// The rounds of a load generator: commands come on standard input as JSON lines {seconds, rate?},
// each is answered with {answered, failed, p50, p99}. With a rate as many are begun a second,
// whatever comes back; without, one after the other. http-load.ts and smtp-load.ts do what is
// counted.
import { createInterface } from 'node:readline';

/** What is counted while it runs. */
export const round = {
  /** Whoever has an answer goes on at once. */
  running: false,
  answered: 0,
  failed: 0,
  latencies: [] as number[],
};

/** Starts every client that waits for nothing, when a round begins. */
export async function runRounds(clients: readonly (() => void)[]): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { seconds, rate } = JSON.parse(line) as { seconds: number; rate?: number };
    Object.assign(round, { running: rate === undefined, answered: 0, failed: 0, latencies: [] });
    if (rate === undefined) for (const start of clients) start();
    const pacing = rate === undefined ? undefined : pace(clients, rate);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    clearInterval(pacing);
    round.running = false;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { answered, failed, latencies } = round;
    latencies.sort((a, b) => a - b);
    const at = (q: number) => latencies[Math.floor(latencies.length * q)] ?? 0;
    process.stdout.write(`${JSON.stringify({ answered, failed, p50: at(0.5), p99: at(0.99) })}\n`);
  }
}

function pace(clients: readonly (() => void)[], rate: number): NodeJS.Timeout {
  const startedAt = performance.now();
  let begun = 0;
  return setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * rate;
    while (begun < due) clients[begun++ % clients.length]!();
  }, 5);
}
