// The least an SMTP client can do: commands and email as two ready buffers, replies counted by
// their line ends.
import { connect } from 'node:net';

/** Hands over the same email while `more` says so; answers how often. */
export async function handBareBytes(
  port: number,
  email: Buffer,
  { connections, more }: { connections: number; more: () => boolean },
): Promise<number> {
  const commands = Buffer.from(
    'MAIL FROM:<bounce@b.example>\r\nRCPT TO:<jane@example.org>\r\nDATA\r\n',
  );
  const data = Buffer.concat([email, Buffer.from('.\r\n')]);
  let count = 0;
  const session = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      // Greeting, EHLO, then 3 lines for the commands and 1 for the email, over and over.
      let awaited = 1;
      let step: 'greeting' | 'ehlo' | 'commands' | 'email' = 'greeting';
      const next = (name: typeof step, lines: number, bytes: Buffer | string) => {
        step = name;
        awaited = lines;
        socket.write(bytes);
      };
      socket.on('error', reject).on('close', () => resolve());
      socket.on('data', (chunk: Buffer) => {
        if (step === 'ehlo') awaited = /^250 /m.test(chunk.toString('latin1')) ? 0 : 1;
        else for (const byte of chunk) if (byte === 10) awaited--;
        if (awaited > 0) return;
        if (step === 'greeting') return next('ehlo', 1, 'EHLO bench.example\r\n');
        if (step === 'commands') return next('email', 1, data);
        if (step === 'email') count++;
        if (more()) return next('commands', 3, commands);
        socket.end();
      });
    });
  await Promise.all(Array.from({ length: connections }, session));
  return count;
}
