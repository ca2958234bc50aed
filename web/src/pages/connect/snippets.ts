// What to paste to connect a program or an agent, with the account's own address and sender filled
// in.

export interface Here {
  baseUrl: string;
  mcpUrl: string;
  from: string;
  /** The environment variable that holds the key. */
  key: string;
}

export interface Snippet {
  name: string;
  /** Where it goes. */
  where: string;
  code: (here: Here) => string;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

export const AGENTS: Snippet[] = [
  {
    name: 'Claude Code',
    where: 'In a terminal',
    code: ({ mcpUrl, key }) =>
      `claude mcp add --transport http sandmartin ${mcpUrl} \\\n  --header "Authorization: Bearer $${key}"`,
  },
  {
    name: 'Claude Desktop',
    where:
      'In Settings, Connectors, Add custom connector. Claude connects from the internet, so the address must be public and begin with https',
    code: ({ mcpUrl }) =>
      `URL: ${mcpUrl}\nRequest header: Authorization\nIts value: Bearer <API_KEY>`,
  },
  {
    name: 'Claude Desktop, local',
    where: 'In claude_desktop_config.json, for a service that only your own computer can reach',
    code: ({ mcpUrl }) =>
      json({
        mcpServers: {
          sandmartin: {
            command: 'npx',
            args: [
              ...['-y', 'mcp-remote', mcpUrl],
              ...(mcpUrl.startsWith('http:') ? ['--allow-http'] : []),
              // No blank in an argument: on Windows it would be broken there.
              // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote fills it in
              ...['--header', 'Authorization:${AUTHORIZATION}'],
            ],
            env: { AUTHORIZATION: 'Bearer <API_KEY>' },
          },
        },
      }),
  },
  {
    name: 'Cursor',
    where: 'In .cursor/mcp.json',
    code: ({ mcpUrl, key }) =>
      json({
        mcpServers: {
          sandmartin: { url: mcpUrl, headers: { Authorization: `Bearer \${env:${key}}` } },
        },
      }),
  },
  {
    name: 'VS Code',
    where: 'In .vscode/mcp.json',
    code: ({ mcpUrl }) =>
      json({
        inputs: [{ type: 'promptString', id: 'sandmartin', description: 'Key', password: true }],
        servers: {
          sandmartin: {
            type: 'http',
            url: mcpUrl,
            // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code fills it in
            headers: { Authorization: 'Bearer ${input:sandmartin}' },
          },
        },
      }),
  },
  {
    name: 'Codex',
    where: 'In ~/.codex/config.toml',
    code: ({ mcpUrl, key }) =>
      `[mcp_servers.sandmartin]\nurl = "${mcpUrl}"\nbearer_token_env_var = "${key}"`,
  },
];

export const PROGRAMS: Snippet[] = [
  {
    name: 'curl',
    where: 'In a terminal',
    code: ({ baseUrl, from, key }) =>
      `curl ${baseUrl}/v1/send \\
  -H "X-API-Key: $${key}" -H "Content-Type: application/json" \\
  -d '{"from_email": "${from}", "to": ["ada@example.com"], "subject": "Hello", "text": "It works."}'`,
  },
  {
    name: 'Node',
    where: 'With our client: npm install sandmartin',
    code: ({ baseUrl, from, key }) =>
      `import { Sandmartin } from 'sandmartin/client';

const sandmartin = new Sandmartin({ baseUrl: '${baseUrl}', apiKey: process.env.${key} });
await sandmartin.send({
  from_email: '${from}',
  to: ['ada@example.com'],
  subject: 'Hello',
  text: 'It works.',
});`,
  },
  {
    name: 'Node, resend',
    where: 'With the resend package, unchanged: set RESEND_BASE_URL before the program starts',
    code: ({ baseUrl, from, key }) =>
      `// RESEND_BASE_URL=${baseUrl}
import { Resend } from 'resend';

const resend = new Resend(process.env.${key});
await resend.emails.send({
  from: '${from}',
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'It works.',
});`,
  },
  {
    name: 'Python',
    where: 'With requests',
    code: ({ baseUrl, from, key }) =>
      `import os, requests

requests.post(
    "${baseUrl}/v1/send",
    headers={"X-API-Key": os.environ["${key}"]},
    json={
        "from_email": "${from}",
        "to": ["ada@example.com"],
        "subject": "Hello",
        "text": "It works.",
    },
    timeout=10,
).raise_for_status()`,
  },
  {
    name: 'PHP',
    where: 'Without a library',
    code: ({ baseUrl, from, key }) =>
      `<?php
$call = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => ['Content-Type: application/json', 'X-API-Key: ' . getenv('${key}')],
    'content' => json_encode([
        'from_email' => '${from}',
        'to' => ['ada@example.com'],
        'subject' => 'Hello',
        'text' => 'It works.',
    ]),
]]);
echo file_get_contents('${baseUrl}/v1/send', false, $call);`,
  },
  {
    name: 'Go',
    where: 'With net/http',
    code: ({ baseUrl, from, key }) =>
      `body := strings.NewReader(\`{"from_email": "${from}", "to": ["ada@example.com"],
  "subject": "Hello", "text": "It works."}\`)
request, _ := http.NewRequest("POST", "${baseUrl}/v1/send", body)
request.Header.Set("Content-Type", "application/json")
request.Header.Set("X-API-Key", os.Getenv("${key}"))
response, err := http.DefaultClient.Do(request)`,
  },
];
