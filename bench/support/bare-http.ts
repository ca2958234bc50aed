// The least a Node process can do with a send: take the request, read its body to the end, answer
// 202. The floor under `bench accept`.
import { createServer } from 'node:http';

const answer = JSON.stringify({ id: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C', status: 'queued' });
// The load generator's sockets rest while others have their turn.
const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(202, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': answer.length,
    });
    response.end(answer);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('ready\n'));
