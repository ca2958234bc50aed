// Connect: what to paste so that a program or an agent can send, with this account's address and
// sender filled in.
import { Alert, Tabs, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRead, useRows } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { SmtpSettings } from '../../parts/smtp-settings.tsx';
import { useMe } from '../../session.ts';
import { AGENTS, type Here, PROGRAMS, type Snippet } from './snippets.ts';

const KEY = 'SANDMARTIN_API_KEY';

export function ConnectPage() {
  const usage = useRead('usage.get', {});
  // Not before the sender is known: a call with any other is refused.
  return (
    <PageOf asked={usage} title="Connect">
      {({ sender }) => <Ways sender={sender} />}
    </PageOf>
  );
}

function Ways({ sender }: { sender: string | null }) {
  const { service } = useMe();
  const keys = useRows('keys.list', {});
  const sending = keys.rows.find(
    ({ scopes, revoked_at }) => revoked_at === null && scopes.includes('email:send'),
  );
  const here: Here = {
    baseUrl: service.baseUrl,
    mcpUrl: service.mcpUrl,
    from: sender ?? 'hello@example.com',
    key: KEY,
  };
  return (
    <Page
      title="Connect"
      lead={
        <>
          Paste one of these. The key comes from the environment as {KEY}:{' '}
          {sending && (
            <>
              {sending.name ?? 'the key'} (<code>{sending.prefix}…</code>) can send, or{' '}
            </>
          )}
          <Link to="/keys" className="plain-link">
            create one for each program
          </Link>
          .
        </>
      }
    >
      {sender === null && (
        <Alert color="yellow" variant="light" mb="lg">
          There is no verified sender yet, so hello@example.com is used as a placeholder.{' '}
          <Link to="/senders" className="plain-link">
            Verify a domain or an address
          </Link>
        </Alert>
      )}
      <Section
        title="Agents"
        lead="Give an agent a key with rules: a person approves what it sends, or it sends templates only."
      >
        <Snippets kind="agent" snippets={AGENTS} here={here} />
      </Section>
      <Section title="Programs" lead="The same email from each.">
        <Snippets kind="program" snippets={PROGRAMS} here={here} />
      </Section>
      <Section
        title="By SMTP"
        lead="A program that already sends by SMTP needs only these settings."
      >
        <SmtpSettings />
      </Section>
      <Section title="For your tools">
        <Text size="sm">
          <Link to="/connect/reference" className="plain-link">
            API reference
          </Link>
          {', '}
          <a href={`${service.baseUrl}/openapi.json`} className="plain-link">
            openapi.json
          </a>
          {', '}
          <a href={`${service.baseUrl}/llms.txt`} className="plain-link">
            llms.txt
          </a>
          {' and the '}
          <a href={`${service.baseUrl}/docs`} className="plain-link">
            docs as Markdown
          </a>
          .
        </Text>
      </Section>
    </Page>
  );
}

interface SnippetsProps {
  kind: 'agent' | 'program';
  snippets: Snippet[];
  here: Here;
}

function Snippets({ kind, snippets, here }: SnippetsProps) {
  const { [kind]: named } = useSearch({ from: '/inside/connect' });
  const navigate = useNavigate({ from: '/connect' });
  const shown = Math.max(
    0,
    snippets.findIndex(({ name }) => name === named),
  );
  return (
    // By number: a name with a space cannot be part of an id.
    <Tabs
      value={String(shown)}
      onChange={(at) =>
        void navigate({
          search: (before) => ({ ...before, [kind]: snippets[Number(at)]?.name }),
          replace: true,
          resetScroll: false,
        })
      }
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {snippets.map(({ name }, at) => (
          <Tabs.Tab key={name} value={String(at)}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ name, where, code }, at) => (
        <Tabs.Panel key={name} value={String(at)}>
          <Text size="sm" c="dimmed" mb="xs">
            {where}
          </Text>
          <CodeBlock code={code(here)} label={`Code for ${name}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
