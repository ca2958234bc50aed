// The page of the App, which the host puts into a frame. It speaks JSON-RPC with the host by
// postMessage (MCP Apps, 2026-01-26): announces itself, gets the result of send_email, reads the
// email behind it, and asks the host to open the page where a person decides.

const STYLE = `
  :root { color-scheme: light dark; --ink: #1c1b19; --dim: #5f5c57; --paper: #fff; --edge: #e3e1dc; --wait: #fbf2d9; --button: #00734f; }
  :root[data-theme=dark] { --ink: #efece6; --dim: #aaa69e; --paper: #1b1a17; --edge: #3a3833; --wait: #3a3216; }
  body { margin: 0; padding: 16px; font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
  h1 { font-size: 17px; line-height: 1.3; margin: 0 0 12px; }
  #state { background: var(--wait); border-radius: 8px; padding: 8px 12px; margin: 0 0 12px; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 0 0 12px; }
  dt { color: var(--dim); } dd { margin: 0; }
  iframe { box-sizing: border-box; width: 100%; height: 340px; border: 1px solid var(--edge); border-radius: 8px; background: #fff; color-scheme: light; }
  pre { white-space: pre-wrap; border: 1px solid var(--edge); border-radius: 8px; padding: 12px; margin: 0; max-height: 340px; overflow: auto; }
  footer { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; margin-top: 12px; }
  button { font: inherit; font-weight: 600; padding: 8px 14px; border: 0; border-radius: 8px; background: var(--button); color: #fff; cursor: pointer; }
  button:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
  small { color: var(--dim); font-size: 12px; }
  [hidden] { display: none !important; }
`;

const SCRIPT = `
const at = (id) => document.getElementById(id);
const waiting = new Map();
let last = 0;
const say = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const ask = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++last, { resolve, reject });
  say({ id: last, method, params });
});

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  if (data.method === undefined) {
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if (data.error) reject?.(data.error); else resolve?.(data.result);
  } else if (data.method === 'ui/notifications/tool-result') show(data.params ?? {});
  else if (data.method === 'ui/notifications/host-context-changed') dress(data.params ?? {});
  else if (data.id !== undefined) say({ id: data.id, result: {} });
});

const dress = ({ theme }) => { if (theme) document.documentElement.dataset.theme = theme; };

// What strangers wrote is between marks for the model; people need none.
const plain = (value) => String(value ?? '').replace(/⟪\\/?[0-9a-z]{10}⟫/g, '');

let url;
async function show({ structuredContent: content }) {
  if (!content?.id) return;
  const { held } = content;
  if (!held) {
    tell('It is queued. No approval was needed.');
    return;
  }
  url = held.approval_url;
  put({ ...held, state: 'waiting', to: held.recipients ?? [], subject: held.subject });
  for (let tries = 0; tries < 120; tries++) {
    const email = await read(content.id);
    if (email === undefined) return;
    put(email, true);
    if (email.state !== 'waiting') return;
    await new Promise((resolve) => setTimeout(resolve, 5000));
  }
}

const read = (id) => ask('resources/read', { uri: 'sandmartin://held-emails/' + id }).then(
  ({ contents }) => JSON.parse(contents[0].text),
  () => undefined,
);

const SAID = {
  waiting: 'Nothing has been sent yet. It is waiting for your approval.',
  approved: 'It was approved and goes out.',
  declined: 'It was declined: nobody receives it.',
  expired: 'It expired without a decision: it is not sent.',
  cancelled: 'It was cancelled: nobody receives it.',
};

const tell = (text) => { at('state').textContent = text; };

let drawn;
function put(email, whole = false) {
  tell(SAID[email.state] + (email.decided_by ? ' Decided by ' + email.decided_by + '.' : ''));
  at('open').hidden = email.state !== 'waiting';
  if (drawn === email.sha256 + whole) return;
  drawn = email.sha256 + whole;
  at('subject').textContent = plain(email.subject) || '(no subject)';
  const rows = [
    ['From', email.from_email], ['To', (email.to ?? []).join(', ')], ['Cc', (email.cc ?? []).join(', ')],
    ['Bcc', (email.bcc ?? []).join(', ')], ['Reply-To', email.reply_to],
    ['Goes out', email.scheduled_at && new Date(email.scheduled_at).toUTCString()],
    ...(email.headers ?? []).map(({ name, value }) => [name, value]),
    ['Files', (email.attachments ?? []).map(({ filename }) => filename).join(', ')],
    ['Gets no copy', (email.suppressed ?? []).join(', ')],
  ].filter(([, value]) => value);
  at('facts').replaceChildren(...rows.flatMap(([name, value]) => {
    const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
    dt.textContent = name;
    dd.textContent = plain(value);
    return [dt, dd];
  }));
  const html = email.html ?? null;
  at('email').hidden = html === null;
  at('text').hidden = html !== null;
  if (html === null) at('text').textContent = plain(email.text);
  else at('email').srcdoc = html;
  at('hash').textContent = 'SHA-256 ' + email.sha256;
}

new ResizeObserver(() => {
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
  say({ method: 'ui/notifications/size-changed', params: { height } });
}).observe(document.body);

at('open').addEventListener('click', () => ask('ui/open-link', { url }).catch(() =>
  tell('Your program could not open the page. Its address is ' + url)));

ask('ui/initialize', {
  appInfo: { name: 'sandmartin-held-email', version: '1' },
  appCapabilities: {},
  protocolVersion: '2026-01-26',
}).then(({ hostContext }) => {
  dress(hostContext ?? {});
  say({ method: 'ui/notifications/initialized' });
});
`;

/** Whatever the host allows; the email inside inherits the rule that nothing is loaded. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

export const APP_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>Email waiting for approval</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p id="state" role="status">Nothing to show yet.</p>
<h1 id="subject"></h1>
<dl id="facts"></dl>
<iframe id="email" title="The email" sandbox hidden></iframe>
<pre id="text" tabindex="0" hidden></pre>
<footer><button id="open" type="button" hidden>Review and decide</button><small id="hash"></small></footer>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
