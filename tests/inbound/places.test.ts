// Places at the feedback listener: strangers cannot keep relays' reports out, however many
// connections they hold.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlaces, networkOf, type Places } from '../../src/smtp/connection-places.ts';
import { until } from '../support/until.ts';

let server: Server;
let places: Places;
let open: Socket[] = [];
/** As the server sees them, by the client's port. */
const accepted = new Map<number, { socket: Socket; entered: boolean }>();

beforeEach(async () => {
  places = createPlaces({ most: 6, mostOfNetwork: 4, strangerMs: 60_000, provenMs: 60_000 });
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    accepted.set(socket.remotePort!, { socket, entered: places.enter(socket) });
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open = [];
  accepted.clear();
  places.stop();
  await new Promise((resolve) => server.close(resolve));
});

/** A client in a network of its own: all of 127.0.0.0/8 is this machine. */
async function come(network: number) {
  const { port } = server.address() as { port: number };
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.${network}.1` });
  open.push(socket);
  let ended = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
  });
  const there = await until(() => accepted.get(socket.localPort ?? 0));
  return { ...there, peer: there.socket, ended: () => ended };
}
const crowd = async (network: number, count: number) => {
  const clients = [];
  for (let index = 0; index < count; index++) clients.push(await come(network));
  return clients;
};

describe('places', () => {
  it('a network has its share, and no more', async () => {
    const clients = await crowd(1, 5);
    expect(clients.map(({ entered }) => entered)).toEqual([true, true, true, true, false]);
  });

  it('when all are taken, the network that holds the most gives one up, its oldest', async () => {
    const many = await crowd(1, 4);
    const few = await crowd(2, 2);
    const relay = await come(3);
    expect(relay.entered).toBe(true);
    await until(() => many[0]!.ended());
    expect([...many.slice(1), ...few].some(({ ended }) => ended())).toBe(false);
  });

  it('who has shown a return path stays, strangers go first', async () => {
    const relay = await crowd(1, 4);
    for (const { peer } of relay) places.prove(peer);
    const strangers = await crowd(2, 2);
    const newcomer = await come(3);
    expect(newcomer.entered).toBe(true);
    await until(() => strangers[0]!.ended());
    expect(relay.some(({ ended }) => ended())).toBe(false);
  });

  it('a flood from everywhere does not push a known relay out, and it gets in again', async () => {
    const [first] = await crowd(1, 1);
    places.prove(first!.peer);
    for (let network = 10; network < 40; network++) await come(network);
    expect(first!.ended()).toBe(false);
    const again = await come(1);
    expect(again.entered).toBe(true);
    for (let network = 40; network < 60; network++) await come(network);
    expect(again.ended()).toBe(false);
  });

  it('are free again when someone leaves', async () => {
    const clients = await crowd(1, 4);
    open[0]!.destroy();
    await until(() => clients[0]!.ended());
    await until(async () => (await come(1)).entered);
  });

  it('are not for those who only sit there', async () => {
    places.stop();
    places = createPlaces({ most: 6, mostOfNetwork: 4, strangerMs: 50, provenMs: 60_000 });
    const [idle, busy] = await crowd(1, 2);
    places.prove(busy!.peer);
    await until(() => idle!.ended());
    expect(busy!.ended()).toBe(false);
  });
});

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  ['2001:0db8:0001:ffff::', '2001:db8:1::/48'],
  ['::1', '0:0:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0::/48'],
])('%s is of the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
