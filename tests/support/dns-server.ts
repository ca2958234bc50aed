// A DNS server on loopback that answers TXT and CNAME from a zone the test fills, so that the real resolver is what is tested.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

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

const TYPES: Record<number, string> = { 5: 'CNAME', 16: 'TXT' };

export async function startDns(): Promise<TestDns> {
  const socket = createSocket('udp4');
  const zone = new Map<string, string[]>();
  const dns: TestDns = {
    address: '',
    zone,
    publish(type, name, value) {
      const key = `${type} ${name.toLowerCase()}`;
      zone.set(key, [...(zone.get(key) ?? []), value]);
    },
    silent: false,
    close: () => new Promise<void>((done) => socket.close(() => done())),
  };
  socket.on('message', (query, from) => {
    if (dns.silent) return;
    const { name, type, end } = question(query);
    const known = [...zone.keys()].some((key) => key.endsWith(` ${name}`));
    const values = zone.get(`${TYPES[type]} ${name}`) ?? [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // Response, recursion available; 3 is NXDOMAIN (RFC 1035 4.1.1).
    header.writeUInt16BE(0x8180 | (known ? 0 : 3), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(values.length, 6);
    const answers = values.map((value) => record(type, value));
    const reply = Buffer.concat([header, query.subarray(12, end), ...answers]);
    socket.send(reply, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  dns.address = `127.0.0.1:${socket.address().port}`;
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

function record(type: number, value: string): Buffer {
  const data = TYPES[type] === 'TXT' ? strings(value) : labels(value);
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0); // the question's name
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
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

const labels = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.of(0),
  ]);
