// An smtp-server that takes every key and drops every email, for comparison.
import { SMTPServer } from 'smtp-server';

const server = new SMTPServer({
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  hideENHANCEDSTATUSCODES: false,
  logger: false,
  onAuth: (_auth, _session, done) => done(null, { user: 'bench' }),
  onData(stream, _session, done) {
    stream.resume();
    stream.on('end', () => done(null, '2.0.0 dropped'));
  },
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('listening\n'));
