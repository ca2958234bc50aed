// The campaign: random troubles under load, and a ledger of every 202 and every email at the relay.
// Processes and database have one schedule, the relay another beside it. In the end all is
// repaired, and everything that was accepted must have arrived.
import { setTimeout as wait } from 'node:timers/promises';
import { releaseSetAside } from '../../src/queue/quarantine.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createChance } from './campaign-chance.ts';
import type { Ledger } from './campaign-ledger.ts';
import { openStage, type Stage } from './campaign-stage.ts';
import { type Draw, processTroubles, relayTroubles } from './campaign-troubles.ts';

export interface CampaignOptions {
  seed: number;
  /** How long troubles are made; repairs and waiting come on top. */
  seconds: number;
  /** Also troubles that need root, libfaketime or time. */
  long?: boolean;
  say: (line: string) => void;
}

const CLIENTS = 8;
const CLIENT_RESTS_MS = 60;
const CLIENT_WAITS_MS = 15_000;
const ALL_ARRIVE_WITHIN_MS = 120_000;

export async function runCampaign(options: CampaignOptions): Promise<Ledger> {
  const { seed, seconds, long = false, say } = options;
  const stage = await openStage({ smallDisk: long });
  const ledger: Ledger = {
    seed,
    accepted: new Map(),
    refused: new Map(),
    arrivals: stage.relay.arrivals,
    troubles: [],
    leftOut: [],
    leftInQueue: 0,
    setAside: 0,
  };
  try {
    const clients = await startClients(stage, ledger);
    const [processChance, relayChance] = [createChance(seed), createChance(~seed)];
    const { draws, leftOut } = processTroubles(stage, processChance, long);
    ledger.leftOut.push(...leftOut);
    const startedAtMs = Date.now();
    const endsAtMs = startedAtMs + seconds * 1000;
    const makeTroubles = async (nextDraw: () => Draw, restMs: () => number) => {
      while (Date.now() < endsAtMs) {
        await wait(restMs());
        const { play, ...about } = nextDraw()();
        const trouble = { ...about, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
        ledger.troubles.push(trouble);
        await play();
        trouble.untilMs = Date.now();
        const [from, to] = [trouble.fromMs, trouble.untilMs].map((ms) => ms - startedAtMs);
        say(`${from}–${to} ms: ${about.what} (${about.concerns.join(', ')})`);
      }
    };
    try {
      await Promise.all([
        makeTroubles(processChance.deck(draws), () => processChance.between(500, 2_000)),
        makeTroubles(relayChance.deck(relayTroubles(stage, relayChance)), () =>
          relayChance.between(1_000, 3_000),
        ),
      ]);
    } finally {
      await clients.stop();
    }
    say(`mended after ${Date.now() - startedAtMs} ms; waiting for what was accepted`);
    await letAllArrive(stage, ledger);
    return ledger;
  } finally {
    await stage.stop();
  }
}

/** Eight of them, of two accounts, at both API processes in turn. */
async function startClients({ actors, database }: Stage, ledger: Ledger) {
  const urls = actors.filter(({ role }) => role === 'api').map(({ url }) => `${url}/v1/send`);
  const accounts = [await makeAccount(database), await makeAccount(database)];
  let stopped = false;
  const send = async (url: string, key: string, subject: string): Promise<void> => {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail({ subject })),
      signal: AbortSignal.timeout(CLIENT_WAITS_MS),
    }).catch(() => undefined);
    if (answer?.status === 202) ledger.accepted.set(answer.body.id, Date.now());
    else {
      const name = answer === undefined ? 'none' : String(answer.status);
      ledger.refused.set(name, (ledger.refused.get(name) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const { key } = accounts[client % accounts.length]!;
    for (let number = client; !stopped; number++) {
      await send(urls[(number >> 1) % urls.length]!, key, `${client} ${number}`);
      await wait(CLIENT_RESTS_MS);
    }
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

/**
 * What hangs is cut, and what waits for its next attempt is called now: the campaign need not last
 * as long as the backoff.
 */
async function letAllArrive({ relay, database }: Stage, ledger: Ledger): Promise<void> {
  await relay.fail('closes');
  await relay.heal();
  const count = async (): Promise<number> => {
    const [row] = await database.query<{ n: number }>('SELECT count(*) AS n FROM due_messages');
    return row!.n;
  };
  await until(async () => {
    ledger.setAside += await releaseSetAside(database, 'all');
    await database.query(`UPDATE due_messages SET due_at = now() WHERE state = 'waiting'`);
    return (await count()) === 0;
  }, ALL_ARRIVE_WITHIN_MS).catch(() => undefined);
  ledger.leftInQueue = await count();
}
