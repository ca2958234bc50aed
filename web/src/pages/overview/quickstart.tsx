// The quickstart: a key, a call to paste, and a place that waits for the first email and then shows
// its timeline live.
import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { MessageSummary, Usage } from '../../../../src/client/operations.ts';
import { urlOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import { type Output, useChange } from '../../operations.ts';
import { Secret } from '../../parts/copy.tsx';
import { KeysIcon } from '../../parts/icons.tsx';
import { InLanguages } from '../../parts/in-languages.tsx';
import { tellFault } from '../../parts/results.ts';
import { useMay, useMe } from '../../session.ts';
import { LiveStory } from '../messages/live-story.tsx';

export function QuickstartPanel({ usage, onDone }: { usage: Usage; onDone: () => void }) {
  const { service, user } = useMe();
  const [secret, setSecret] = useState<string>();
  const [first, setFirst] = useState<MessageSummary>();
  useLive<Output<'messages.list'>>(urlOf('live'), 'messages', ({ data: items }) => {
    // The first email to arrive stays the one that is watched. The service's own, such as
    // invitations, do not count.
    setFirst((before) => before ?? items.findLast(({ door }) => door !== 'system'));
  });
  const story = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (first) story.current?.scrollIntoView({ block: 'end', behavior: 'smooth' });
  }, [first]);
  const from = usage.sender ?? 'hello@example.com';
  const to = service.sandbox ? 'opened@simulator.test' : user.email;
  return (
    <Stack gap="lg" maw={780}>
      <Step number={1} title="Get an API key" done={secret !== undefined}>
        <QuickKey secret={secret} onSecret={setSecret} keys={usage.keys} />
      </Step>
      <Step number={2} title="Make one call" done={first !== undefined}>
        {usage.sender === null && (
          <Text size="sm" mb="sm">
            First tell us who you send as:{' '}
            <Link to="/senders" className="plain-link">
              verify a domain or an address
            </Link>
            .
          </Text>
        )}
        <Calls
          url={service.baseUrl}
          mcpUrl={service.mcpUrl}
          secret={secret ?? '<API_KEY>'}
          from={from}
          to={to}
        />
      </Step>
      <Step number={3} title="Watch it arrive" done={false}>
        {first ? (
          <Stack gap="md" ref={story} mih={420} justify="space-between">
            <LiveStory id={first.id} subject={first.subject} />
            <Group>
              <Button variant="default" onClick={onDone}>
                Go to the overview
              </Button>
              <Link to="/messages/$id" params={{ id: first.id }} className="plain-link">
                Everything about this email
              </Link>
            </Group>
          </Stack>
        ) : (
          <Group gap="md" role="status">
            <span className="pulse" aria-hidden="true" />
            <Text size="sm" c="dimmed">
              Waiting for your first email…
            </Text>
          </Group>
        )}
      </Step>
    </Stack>
  );
}

interface QuickKeyProps {
  secret: string | undefined;
  onSecret: (secret: string) => void;
  keys: number;
}

function QuickKey({ secret, onSecret, keys }: QuickKeyProps) {
  const may = useMay('developer');
  const create = useChange('keys.create', {
    changes: ['keys.list'],
    onDone: (answer) => onSecret(answer.secret),
  });
  if (secret !== undefined) {
    return (
      <Secret
        value={secret}
        label="API key"
        note="The key is shown only once. The call below already contains it."
      />
    );
  }
  if (!may) return <Text size="sm">Ask an owner or developer of this account for a key.</Text>;
  return (
    <Group>
      <Button
        leftSection={<KeysIcon size={16} />}
        loading={create.isPending}
        onClick={() =>
          create.mutate(
            { name: 'Quickstart', scopes: ['email:send', 'email:read'] },
            { onError: tellFault },
          )
        }
      >
        Create a key
      </Button>
      {keys > 0 && (
        <Text size="sm" c="dimmed">
          or use one you have ({keys})
        </Text>
      )}
    </Group>
  );
}

interface CallsProps {
  url: string;
  mcpUrl: string;
  secret: string;
  from: string;
  to: string;
}

function Calls({ url, mcpUrl, secret, from, to }: CallsProps) {
  const email = {
    from_email: from,
    to: [to],
    subject: 'Hello from Sandmartin',
    html: '<p>It works.</p>',
  };
  const curl = `curl ${url}/v1/send \\
  -H 'X-API-Key: ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(email, null, 2).replaceAll('\n', '\n      ')}'`;
  const node = `const response = await fetch('${url}/v1/send', {
  method: 'POST',
  headers: { 'X-API-Key': '${secret}', 'Content-Type': 'application/json' },
  body: JSON.stringify(${JSON.stringify(email, null, 2).replaceAll('\n', '\n  ')}),
});
console.log(await response.json());`;
  const python = `import json, urllib.request

request = urllib.request.Request(
    "${url}/v1/send",
    headers={"X-API-Key": "${secret}", "Content-Type": "application/json"},
    data=json.dumps(${JSON.stringify(email, null, 4).replaceAll('\n', '\n    ')}).encode(),
)
print(urllib.request.urlopen(request).read().decode())`;
  const mcp = JSON.stringify(
    { mcpServers: { sandmartin: { url: mcpUrl, headers: { 'X-API-Key': secret } } } },
    null,
    2,
  );
  const ways = { curl, 'Node.js': node, Python: python, MCP: mcp };
  return <InLanguages ways={ways} />;
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number;
  title: string;
  done: boolean;
  children: ReactNode;
}) {
  return (
    <Paper p="lg" component="section" aria-label={title}>
      <Group gap="sm" mb="md">
        <span className="step" data-done={done || undefined} aria-hidden="true">
          {done ? '✓' : number}
        </span>
        <Title order={2}>{title}</Title>
      </Group>
      {children}
    </Paper>
  );
}
