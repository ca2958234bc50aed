// A DNS server on loopback that answers A and AAAA as a test tells it, so that the real resolver is what is tested.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The addresses of a name at this moment; undefined for NXDOMAIN, 'silent' for no answer at all. */
export type Zone = (name: string, type: 'A' | 'AAAA') => string[] | undefined | 'silent';

export async function startDnsServer(zone: Zone) {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (query, from) => {
    asked += 1;
    const { name, type, end } = question(query);
    const records = type === 1 ? zone(name, 'A') : type === 28 ? zone(name, 'AAAA') : [];
    if (records === 'silent') return;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // Response, recursion available; 3 is NXDOMAIN (RFC 1035 section 4.1.1).
    header.writeUInt16BE(0x8180 | (records === undefined ? 3 : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records?.length ?? 0, 6);
    const answers = (records ?? []).map((ip) => record(type, ip));
    socket.send(
      Buffer.concat([header, query.subarray(12, end), ...answers]),
      from.port,
      from.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: () => asked,
    close: () => new Promise<void>((done) => socket.close(done)),
  };
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

function record(type: number, ip: string): Buffer {
  const data = type === 1 ? Buffer.from(ip.split('.').map(Number)) : ipv6Bytes(ip);
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0); // the question's name
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}

function ipv6Bytes(ip: string): Buffer {
  const [head = '', tail] = ip.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
