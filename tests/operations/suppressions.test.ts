// Suppressions in numbers: many added at once or none, everything read back page by page, the same
// by command.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerSuppression } from '../../src/cli/suppression.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { runInProcess } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

async function open() {
  const account = await service.account({ scopes: ['admin'] });
  const api = new Sandmartin({ baseUrl: service.url, apiKey: account.key, retries: 0 });
  return { api, id: account.id };
}

it('an address may be as long as an address can be, wherever it stands in a path', async () => {
  const { api } = await open();
  const domain = `${['a', 'b', 'c'].map((letter) => letter.repeat(60)).join('.')}.example`;
  // Of letters that take nine characters each in a path.
  const long = `${'+'.repeat(61)}@${domain}`;
  const international = `${'あ'.repeat(20)}@${domain}`;
  for (const address of [long, international]) {
    await api.suppressions.put({ address });
    expect((await api.suppressions.get({ address })).address).toBe(address);
    await api.recipients.export({ address });
    await api.suppressions.remove({ address });
  }
});

describe('many at once', () => {
  it('are added with their reason; those that are there stay as they are', async () => {
    const { api } = await open();
    await api.suppressions.put({ address: 'there@example.net' });
    const addresses = ['New@Example.net', 'new@example.net', 'there@example.net'];
    expect(await api.suppressions.add({ addresses, reason: 'bounce' })).toEqual({
      added: 1,
      present: 2,
    });
    const { data } = await api.suppressions.list();
    expect(data.map(({ address, reason }) => [address, reason])).toEqual([
      ['new@example.net', 'bounce'],
      ['there@example.net', 'manual'],
    ]);
  });

  it('a thousand in one call, each with its line in the audit; all come back in one page', async () => {
    const { api } = await open();
    const addresses = Array.from({ length: 1000 }, (_, n) => `n${n}@example.net`);
    expect(await api.suppressions.add({ addresses })).toEqual({ added: 1000, present: 0 });
    expect((await api.suppressions.list({ limit: 1000 })).data).toHaveLength(1000);
    const all = [];
    for await (const { address } of api.suppressions.list({ limit: 300 })) all.push(address);
    expect(all.sort()).toEqual(addresses.sort());
    const { data } = await api.audit.list({ target: 'n7@example.net' });
    expect(data).toMatchObject([{ action: 'add_suppressions', after: { reason: 'manual' } }]);
    await expect(
      api.suppressions.add({ addresses: [...addresses, 'more@example.net'] }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('one that is not an address: it is named, and none is added', async () => {
    const { api } = await open();
    const addresses = ['good@example.net', 'no address', 'b@@example.net'];
    await expect(api.suppressions.add({ addresses })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^addresses\[1\]: "no address" .*1 more.*Nothing was added/),
      faults: [{ path: 'addresses[1]' }, { path: 'addresses[2]' }],
    });
    expect((await api.suppressions.list()).data).toEqual([]);
    await expect(api.suppressions.add({ addresses: [] })).rejects.toMatchObject({ status: 400 });
  });

  it('are of one account', async () => {
    const [ours, theirs] = [await open(), await open()];
    await ours.api.suppressions.add({ addresses: ['a@example.net'] });
    expect((await theirs.api.suppressions.list()).data).toEqual([]);
  });
});

describe('by command', () => {
  const run = (args: string[]) =>
    runInProcess(registerSuppression, ['suppression', ...args], {
      DATABASE_URL: service.databaseUrl,
    });

  it('what is exported from one account is imported into another', async () => {
    const [from, to] = [await open(), await open()];
    await from.api.suppressions.add({ addresses: ['a@example.net', 'b@example.net'] });
    const { stdout } = await run(['export', '--account', `${from.id}`]);
    expect(stdout).toMatch(
      /^address,reason,message_id,created_at,stream\na@example\.net,manual,,.*\nb@/,
    );
    const file = join(mkdtempSync(join(tmpdir(), 'sm-suppressions-')), 'list.csv');
    writeFileSync(file, stdout);
    const done = await run(['import', file, '--account', `${to.id}`, '--reason', 'bounce']);
    expect(done.stdout).toBe('2 were added; 0 were already there.\n');
    expect((await to.api.suppressions.list()).data.map(({ reason }) => reason)).toEqual([
      'bounce',
      'bounce',
    ]);
  });

  it('an address that a spreadsheet would run is exported as text, and imported as it is', async () => {
    const [from, to] = [await open(), await open()];
    const addresses = ["'=b@example.net", '+c@example.net', '=cmd|a!b@example.net'];
    await from.api.suppressions.add({ addresses });
    const { stdout } = await run(['export', '--account', `${from.id}`]);
    expect(stdout).not.toMatch(/^[=+@-]/m);
    const file = join(mkdtempSync(join(tmpdir(), 'sm-suppressions-')), 'list.csv');
    // As a spreadsheet saves it.
    writeFileSync(file, `\ufeff${stdout.replaceAll('\n', '\r\n')}`);
    await run(['import', file, '--account', `${to.id}`]);
    const { data } = await to.api.suppressions.list();
    expect(data.map(({ address }) => address).toSorted()).toEqual(addresses);
  });

  const imported = async (text: string) => {
    const { api, id } = await open();
    const file = join(mkdtempSync(join(tmpdir(), 'sm-suppressions-')), 'list.csv');
    writeFileSync(file, text);
    const done = await run(['import', file, '--account', `${id}`]);
    const { data } = await api.suppressions.list();
    return { ...done, addresses: data.map(({ address }) => address) };
  };

  it.each([
    ['quoted', '"address","reason"\r\n"a@example.net","bounce"\r\n"b@example.net","bounce"\r\n'],
    ['with lines that end as on old Macs', '\ufeffa@example.net\rb@example.net\r'],
    ['with empty lines and spaces', '\n\n a@example.net \n,,\n\tb@example.net,,,\n'],
  ])('a list is read, %s', async (_, text) => {
    expect((await imported(text)).addresses).toEqual(['a@example.net', 'b@example.net']);
  });

  it.each([
    ['a field that never ends', `a@example.net\n${'x'.repeat(3_000_000)}@example.net`],
    ['a quote that is never closed', '"a@example.net\nb@example.net'],
    ['NUL', 'a@example.net\nb\0@example.net'],
    ['orders to the terminal', 'a@example.net\n\u001b]0;owned\u0007\u009b2Jb@example.net'],
    ['a reason that is one', 'address,reason\na@example.net,\u001b[2J'],
    ['a reason that never ends', `address,reason\na@example.net,${'x'.repeat(100_000)}`],
    ['another encoding', Buffer.from('a@example.net', 'utf16le').toString('latin1')],
  ])('a stranger’s file with %s is refused in few words, and nothing is added', async (_, text) => {
    const { code, stderr, addresses } = await imported(text);
    expect({ code, addresses }).toEqual({ code: 1, addresses: [] });
    expect(stderr.length).toBeLessThan(1000);
    expect(stderr.trim()).not.toMatch(/\p{Cc}/u);
  });

  it('a change stands in the audit as a command’s', async () => {
    const { api, id } = await open();
    const added = await run(['add', 'Ada@Example.net', '--account', `${id}`]);
    expect(added.stdout).toContain('ada@example.net is suppressed');
    const listed = await run(['list', '--account', `${id}`, '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { address: 'ada@example.net', message_id: null },
    ]);
    expect((await api.audit.list()).data).toMatchObject([
      { actor: { kind: 'command' }, door: 'cli', target: 'ada@example.net' },
    ]);
    const unknown = await run(['add', 'ada@example.net', '--account', '999999']);
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no account 999999'),
    });
  });
});
