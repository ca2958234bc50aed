// What a message holds: the mail as its reader sees it, its text, headers, source and attachments.
import {
  Button,
  Group,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import { useState } from 'react';
import type { MessageContent } from '../../../../src/client/operations.ts';
import { api, useRead } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { bytesOf, download } from '../../parts/download.ts';
import { Fault } from '../../parts/fault.tsx';
import { ClipIcon, DownloadIcon } from '../../parts/icons.tsx';
import { MailPreview } from '../../parts/mail-frame.tsx';
import { Empty, TableBox } from '../../parts/page.tsx';
import { tellFault } from '../../parts/results.ts';
import { saySize } from '../../parts/size.ts';

/** Why there is nothing to show. */
export function NoContent({ sealed }: { sealed: boolean }) {
  if (sealed) {
    return (
      <Empty title="For its reader only">
        The service itself wrote this mail, and its link acts for whoever holds it. Operators can
        look at it.
      </Empty>
    );
  }
  return (
    <Empty title="The content is gone">
      It was older than this service keeps content (CONTENT_RETENTION_DAYS). The timeline stays.
    </Empty>
  );
}

export function BodyView({
  html,
  text,
  subject,
}: {
  html: string | null;
  text: string | null;
  subject: string;
}) {
  const [part, setPart] = useState(html === null ? 'text' : 'html');
  return (
    <Stack gap="sm">
      {html !== null && text !== null && (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="Part of the mail"
            value={part}
            onChange={setPart}
            data={[
              { value: 'html', label: 'HTML' },
              { value: 'text', label: 'Text' },
            ]}
          />
        </Group>
      )}
      {part === 'html' && html !== null ? (
        <MailPreview html={html} title={`Mail: ${subject}`} />
      ) : (
        <CodeBlock code={text ?? ''} label="Text of the mail" />
      )}
    </Stack>
  );
}

export function Headers({ content }: { content: MessageContent }) {
  const rows: [string, string][] = [
    ['From', content.from_email],
    ['To', content.to.join(', ')],
    ['Cc', content.cc.join(', ')],
    ['Bcc (envelope only)', content.bcc.join(', ')],
    ['Reply-To', content.reply_to ?? ''],
    ['Subject', content.subject],
    ...content.headers.map(({ name, value }): [string, string] => [name, value]),
  ];
  return <HeaderTable rows={rows.filter(([, value]) => value !== '')} />;
}

export function HeaderTable({ rows }: { rows: [name: string, value: string][] }) {
  return (
    <TableBox label="Headers">
      <Table>
        <Table.Tbody>
          {rows.map(([name, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header may stand twice
            <Table.Tr key={index}>
              <Table.Th scope="row" w={170} style={{ verticalAlign: 'top' }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

export function Source({ id }: { id: string }) {
  const source = useRead('messages.source', { sm_mail_id: id });
  if (source.isError) return <Fault fault={source.error} retry={source.refetch} />;
  if (source.data === undefined) return <Skeleton height={480} />;
  const file = source.data;
  return (
    <Stack gap="sm">
      <Group>
        <Button
          onClick={() => download(file)}
          variant="default"
          size="xs"
          leftSection={<DownloadIcon size={15} />}
        >
          Download .eml
        </Button>
      </Group>
      <CodeBlock code={new TextDecoder().decode(bytesOf(file))} label="Raw source" />
    </Stack>
  );
}

export function Attachments({ content }: { content: MessageContent }) {
  return (
    <Paper>
      {content.attachments.map(({ index, filename, content_type, size }) => (
        <button
          key={index}
          type="button"
          className="row-link attachment-line"
          onClick={() =>
            api.messages
              .attachment({ sm_mail_id: content.sm_mail_id, index })
              .then(download, tellFault)
          }
        >
          <ClipIcon size={17} />
          <Text size="sm" fw={500} truncate>
            {filename}
          </Text>
          <Text size="sm" c="dimmed">
            {content_type}
          </Text>
          <Text size="sm" c="dimmed">
            {saySize(size)}
          </Text>
        </button>
      ))}
    </Paper>
  );
}
