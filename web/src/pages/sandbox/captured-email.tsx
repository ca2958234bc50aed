// One captured email: as its reader sees it, its headers, and the bytes as they were sent.
import { Group, Paper, Stack, Tabs, Text } from '@mantine/core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type Output, useRead } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { BackIcon } from '../../parts/icons.tsx';
import { Fact, Page } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { saySize } from '../../parts/size.ts';
import { Time } from '../../parts/time.tsx';
import { HeaderTable } from '../messages/content.tsx';

const back = (
  <Link to="/sandbox" className="back-link">
    <BackIcon size={15} /> Sandbox
  </Link>
);

export function SandboxEmailPage() {
  const { id } = useParams({ from: '/inside/sandbox/$id' });
  const email = useRead('sandbox.get', { id });
  return (
    <PageOf asked={email} title="Captured email" back={back}>
      {(data) => <Captured email={data} />}
    </PageOf>
  );
}

function Captured({ email: data }: { email: Output<'sandbox.get'> }) {
  const { tab = 'email' } = useSearch({ from: '/inside/sandbox/$id' });
  const navigate = useNavigate({ from: '/sandbox/$id' });
  return (
    <Page title={data.subject || '(no subject)'} back={back}>
      <Stack>
        <Paper p="lg">
          <Group gap={40}>
            <Fact label="From">{data.from}</Fact>
            <Fact label="Recipients">{data.recipients.join(', ')}</Fact>
            <Fact label="Captured">
              <Time at={data.captured_at} />
            </Fact>
            <Fact label="Size">{saySize(data.size)}</Fact>
            {data.codes.length > 0 && <Fact label="One-time code">{data.codes.join(', ')}</Fact>}
            {data.message_id && (
              <Fact label="Message">
                <Link to="/messages/$id" params={{ id: data.message_id }} className="plain-link">
                  Its timeline
                </Link>
              </Fact>
            )}
          </Group>
        </Paper>
        <Tabs
          value={tab}
          onChange={(next) =>
            void navigate({ search: next && next !== 'email' ? { tab: next } : {}, replace: true })
          }
          keepMounted={false}
        >
          <Tabs.List mb="md">
            <Tabs.Tab value="email">Email</Tabs.Tab>
            <Tabs.Tab value="headers">Headers</Tabs.Tab>
            <Tabs.Tab value="raw">Raw</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="email">
            <EmailPreview email={data} title={`Email: ${data.subject}`} />
            {data.attachments.map(({ filename, content_type, size }) => (
              <Text key={filename} size="sm" mt="xs">
                {filename}{' '}
                <Text span c="dimmed" size="sm">
                  {content_type}, {saySize(size)}
                </Text>
              </Text>
            ))}
          </Tabs.Panel>
          <Tabs.Panel value="headers">
            <HeaderTable rows={data.headers.map(({ name, value }) => [name, value])} />
          </Tabs.Panel>
          <Tabs.Panel value="raw">
            <CodeBlock code={data.raw} label="Raw source" />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </Page>
  );
}
