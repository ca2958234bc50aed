// The program under test: people sign up with their address and the code that is emailed to them.
// It knows Sandmartin by its address and its key, as any program does; that the key is a test key
// makes no difference to it.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import { Sandmartin } from 'sandmartin/client';

const page = (body) =>
  `<!doctype html><html lang="en"><title>Acme</title><body><h1>Acme</h1>${body}</body></html>`;

const SIGN_UP = page(`<form method="post" action="/sign-up">
  <label>Email <input name="email" type="email" required></label>
  <button>Sign up</button>
</form>`);

const ENTER_CODE = page(`<p>We have sent you a code.</p>
<form method="post" action="/confirm">
  <label>Code <input name="code" autocomplete="one-time-code" required></label>
  <button>Continue</button>
</form>`);

export async function startApp() {
  const sandmartin = new Sandmartin({
    baseUrl: process.env.SANDMARTIN_URL,
    apiKey: process.env.SANDMARTIN_API_KEY,
  });
  /** Who waits with which code. */
  const pending = new Map();

  async function signUp(email) {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    pending.set(code, email);
    await sandmartin.send({
      from_email: 'Acme <hello@acme.example>',
      to: [email],
      template: 'one-time-code',
      variables: { code, action: 'sign up', expires_in: '10 minutes' },
    });
    return ENTER_CODE;
  }

  function confirm(code) {
    const email = pending.get(code.replace(/\s/g, ''));
    if (email === undefined) return page('<p>That code is wrong.</p>');
    pending.delete(code);
    return page(`<p>Signed in as ${email}</p>`);
  }

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    const html =
      request.url === '/sign-up'
        ? await signUp(form.get('email'))
        : request.url === '/confirm'
          ? confirm(form.get('code'))
          : SIGN_UP;
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
