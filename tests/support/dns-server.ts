// DNS servers on loopback, so that the real resolver is what is tested: one answers as a function
// tells it, one from a zone that the test fills.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const TYPES = { 1: 'A', 2: 'NS', 5: 'CNAME', 16: 'TXT', 28: 'AAAA' } as const;
type RecordType = (typeof TYPES)[keyof typeof TYPES];

/** The values of a name at this moment; undefined for NXDOMAIN, 'silent' for no answer at all. */
export type Zone = (name: string, type: RecordType) => string[] | undefined | 'silent';

export async function startDnsServer(zone: Zone) {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (query, from) => {
    asked += 1;
    const { name, type, end } = question(query);
    const known = TYPES[type as keyof typeof TYPES];
    const values = known === undefined ? [] : zone(name, known);
    if (values === 'silent') return;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // Response, recursion available; 3 is NXDOMAIN (RFC 1035 section 4.1.1).
    header.writeUInt16BE(0x8180 | (values === undefined ? 3 : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(values?.length ?? 0, 6);
    const answers = (values ?? []).map((value) => record(type, DATA[known!](value)));
    const reply = Buffer.concat([header, query.subarray(12, end), ...answers]);
    socket.send(reply, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    /** For DNS_SERVERS. */
    address: `127.0.0.1:${socket.address().port}`,
    asked: () => asked,
    close: () => new Promise<void>((done) => socket.close(() => done())),
  };
}

export interface TestDns {
  /** For DNS_SERVERS. */
  address: string;
  /** Records by `TYPE name`; a name without any does not exist. */
  zone: Map<string, string[]>;
  /** Adds a record to those of its name. */
  publish(type: string, name: string, value: string): void;
  /** While true nothing is answered. */
  silent: boolean;
  close(): Promise<void>;
}

export async function startDns(): Promise<TestDns> {
  const zone = new Map<string, string[]>();
  const server = await startDnsServer((name, type) => {
    if (dns.silent) return 'silent';
    const known = [...zone.keys()].some((key) => key.endsWith(` ${name}`));
    return known ? (zone.get(`${type} ${name}`) ?? []) : undefined;
  });
  const dns: TestDns = {
    address: server.address,
    zone,
    publish(type, name, value) {
      const key = `${type} ${name.toLowerCase()}`;
      zone.set(key, [...(zone.get(key) ?? []), value]);
    },
    silent: false,
    close: server.close,
  };
  return dns;
}

function question(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function record(type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0); // the question's name
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}

/** A value as it goes over the wire. */
const DATA: Record<RecordType, (value: string) => Buffer> = {
  A: (ip) => Buffer.from(ip.split('.').map(Number)),
  AAAA: ipv6Bytes,
  CNAME: labels,
  NS: labels,
  TXT: strings,
};

function ipv6Bytes(ip: string): Buffer {
  const [head = '', tail] = ip.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function labels(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.of(0),
  ]);
}

/** Text of any length in strings of at most 255 bytes (RFC 1035 3.3.14). */
function strings(text: string): Buffer {
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255);
    parts.push(Buffer.of(part.length), part);
  }
  return Buffer.concat(parts);
}
