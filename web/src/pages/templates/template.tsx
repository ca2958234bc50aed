// One template: how it looks, what it needs, its versions; it is cloned, edited and tested from
// here.
import {
  Badge,
  Button,
  Code,
  Group,
  Paper,
  Skeleton,
  Stack,
  Table,
  Tabs,
  Text,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { TemplateVersion } from '../../../../src/client/operations.ts';
import { DEFAULT_STREAM } from '../../../../src/messages/stream.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, CopyIcon, EditIcon, SendIcon } from '../../parts/icons.tsx';
import { InLanguages } from '../../parts/in-languages.tsx';
import { OnceOpened } from '../../parts/later.tsx';
import { Fact, Page, TableBox } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { tellDone } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { useMay, useMe } from '../../session.ts';
import { FaultList, faultsOf } from './fault-list.tsx';
import { TemplateBadge } from './gallery.tsx';
import { LanguageSelect } from './language-select.tsx';
import { CloneDialog } from './new-template.tsx';
import { templateReads } from './reads.ts';
import { TestSendDialog } from './test-send.tsx';
import { Versions } from './versions.tsx';

const back = (
  <Link to="/templates" className="back-link">
    <BackIcon size={15} /> Templates
  </Link>
);

export function TemplatePage() {
  const { slug } = useParams({ from: '/inside/templates/$slug' });
  const { tab = 'email' } = useSearch({ from: '/inside/templates/$slug' });
  const navigate = useNavigate({ from: '/templates/$slug' });
  const template = useRead('templates.getVersion', { slug, version: 'current' });
  const [locale, setLocale] = useState<string>();
  const preview = useRead('templates.render', { slug, locale });
  const faults = faultsOf(preview.error);
  const shown = (data: TemplateVersion) => (
    <Page
      title={data.name}
      lead={data.description}
      back={back}
      actions={<Actions template={data} />}
    >
      <div className="two-parts" data-side="right">
        <Side template={data} />
        <div>
          {faults.length > 0 && <FaultList faults={faults} />}
          {preview.isError && faults.length === 0 && (
            <Fault fault={preview.error} retry={preview.refetch} />
          )}
          <Tabs
            value={tab}
            onChange={(next) =>
              void navigate({
                search: next && next !== 'email' ? { tab: next } : {},
                replace: true,
              })
            }
            keepMounted={false}
          >
            <Tabs.List mb="md">
              <Tabs.Tab value="email">Preview</Tabs.Tab>
              <Tabs.Tab value="variables">Variables</Tabs.Tab>
              <Tabs.Tab value="call">Send it</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="email">
              <LanguageSelect
                locales={Object.keys(data.messages)}
                mb="xs"
                value={locale}
                onChange={setLocale}
              />
              {(preview.data || !preview.isError) && (
                <EmailPreview email={preview.data} title={`Preview of ${slug}`} minHeight={560} />
              )}
            </Tabs.Panel>
            <Tabs.Panel value="variables">
              <VariableTable template={data} />
            </Tabs.Panel>
            <Tabs.Panel value="call">
              <SendCall template={data} />
            </Tabs.Panel>
          </Tabs>
        </div>
      </div>
    </Page>
  );
  return (
    <PageOf asked={template} title={slug} back={back}>
      {shown}
    </PageOf>
  );
}

function Side({ template }: { template: TemplateVersion }) {
  return (
    <Stack>
      <Paper p="lg">
        <Stack gap="md">
          <Fact label="Slug">
            <CopyLine value={template.slug} label="Copy the slug" />
          </Fact>
          <Group gap={40}>
            <Fact label="Category">{capital(template.category)}</Fact>
            <Fact label="Stream">{template.stream ?? DEFAULT_STREAM}</Fact>
            <Fact label="Source">
              {template.state === 'system' ? 'System' : <TemplateBadge row={template} />}
            </Fact>
          </Group>
          {template.state === 'draft' && template.has_system && (
            <Text size="xs" c="dimmed">
              Sends use the system template until yours is published.
            </Text>
          )}
        </Stack>
      </Paper>
      {template.newest_version !== null && <Versions template={template} />}
    </Stack>
  );
}

function Actions({ template }: { template: TemplateVersion }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const [cloning, clone] = useDisclosure();
  const [testing, test] = useDisclosure();
  const archive = useChange('templates.archive', {
    changes: templateReads,
    foresee: {
      'templates.getVersion': (one, { slug }) =>
        one.slug === slug ? { ...one, state: 'archived' } : one,
    },
    onDone: () => tellDone('Archived'),
  });
  if (!may) return null;
  const own = template.newest_version !== null;
  return (
    <>
      {own && template.state !== 'archived' && (
        <Button
          variant="subtle"
          color="gray"
          onClick={async () => {
            const yes = await confirm({
              title: `Archive ${template.name}?`,
              body: template.has_system
                ? 'Sends with this slug use the system template again. Your versions are kept; publish one to use it again.'
                : 'Sends with this slug are refused with 404. Your versions are kept; publish one to use it again.',
              act: 'Archive',
            });
            if (yes) archive.mutate({ slug: template.slug });
          }}
        >
          Archive
        </Button>
      )}
      <Button variant="default" leftSection={<SendIcon size={15} />} onClick={test.open}>
        Test send
      </Button>
      <Button
        variant={own ? 'default' : 'filled'}
        leftSection={<CopyIcon size={15} />}
        onClick={clone.open}
      >
        Clone
      </Button>
      {own && (
        <Button
          component={Link}
          to="/templates/$slug/edit"
          params={{ slug: template.slug } as never}
          leftSection={<EditIcon size={15} />}
        >
          Edit
        </Button>
      )}
      <OnceOpened opened={cloning}>
        <CloneDialog template={template} opened={cloning} onClose={clone.close} />
      </OnceOpened>
      <OnceOpened opened={testing}>
        <TestSendDialog slug={template.slug} request={{}} opened={testing} onClose={test.close} />
      </OnceOpened>
    </>
  );
}

function VariableTable({ template }: { template: TemplateVersion }) {
  return (
    <TableBox label="Variables">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th>Meaning</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {template.variables.map((variable) => (
            <Table.Tr key={variable.name} style={{ verticalAlign: 'top' }}>
              <Table.Td>
                <Code>{variable.name}</Code>
              </Table.Td>
              <Table.Td>
                <Group gap={6} wrap="nowrap">
                  {variable.type}
                  {variable.required && <Badge color="yellow">required</Badge>}
                </Group>
              </Table.Td>
              <Table.Td>{variable.description}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

function SendCall({ template }: { template: TemplateVersion }) {
  const { service, user } = useMe();
  const usage = useRead('usage.get', {});
  const { slug, sample } = template;
  const body = {
    from_email: usage.data?.sender ?? 'hello@example.com',
    to: [service.sandbox ? 'opened@simulator.test' : user.email],
    template: slug,
    variables: sample,
  };
  const json = JSON.stringify(body, null, 2);
  const url = `${service.baseUrl}/v1/send`;
  const ways = {
    curl: `curl ${url} \\\n  -H 'X-API-Key: <API_KEY>' \\\n  -H 'Content-Type: application/json' \\\n  -d @- <<'JSON'\n${json}\nJSON`,
    'Node.js': `import { Sandmartin } from 'sandmartin/client';

const sandmartin = new Sandmartin({ baseUrl: '${service.baseUrl}', apiKey: '<API_KEY>' });
console.log(await sandmartin.send(${json}));`,
    Python: `import json, urllib.request

body = json.loads(r'''${json}''')
request = urllib.request.Request(
    "${url}",
    headers={"X-API-Key": "<API_KEY>", "Content-Type": "application/json"},
    data=json.dumps(body).encode(),
)
print(urllib.request.urlopen(request).read().decode())`,
  };
  if (usage.isPending) return <Skeleton height={320} />;
  return (
    <Stack gap="sm">
      {usage.data?.sender === null && (
        <Text size="sm">
          This account has no verified sender yet, so the call is refused until{' '}
          <Link to="/senders" className="plain-link">
            you add one
          </Link>
          .
        </Text>
      )}
      <InLanguages ways={ways} />
    </Stack>
  );
}
