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
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { MessageDetail } from '../../../../src/dashboard/views/messages.ts';
import { urlOf } from '../../api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ClipIcon, DownloadIcon } from '../../parts/icons.tsx';
import { MailPreview } from '../../parts/mail-frame.tsx';
import { Empty, TableBox } from '../../parts/page.tsx';
import { saySize } from '../../parts/size.ts';

function NoContent({ sealed }: { sealed: boolean }) {
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

export function MailBody({ message: { content, sealed, subject } }: { message: MessageDetail }) {
  if (content === null) return <NoContent sealed={sealed} />;
  return <BodyView html={content.html} text={content.text} subject={subject} />;
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

export function Headers({ message }: { message: MessageDetail }) {
  const { content, sealed } = message;
  if (content === null) return <NoContent sealed={sealed} />;
  const rows: [string, string][] = [
    ['From', message.from],
    ['To', content.to.join(', ')],
    ...(content.cc.length > 0 ? [['Cc', content.cc.join(', ')] as [string, string]] : []),
    ...(content.bcc.length > 0
      ? [['Bcc (envelope only)', content.bcc.join(', ')] as [string, string]]
      : []),
    ...(content.replyTo ? [['Reply-To', content.replyTo] as [string, string]] : []),
    ['Subject', message.subject],
    ...content.headers,
  ];
  return <HeaderTable rows={rows} />;
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
  const url = urlOf('getMessageSource', { params: { id } });
  const source = useQuery({
    queryKey: ['getMessageSource', id],
    queryFn: async () => {
      const response = await fetch(url);
      if (response.ok) return response.text();
      const refusal = (await response.json().catch(() => null)) as { detail?: string } | null;
      throw new Error(refusal?.detail ?? `The service answered ${response.status}.`);
    },
  });
  if (source.isError) return <Fault fault={source.error} retry={source.refetch} />;
  if (source.data === undefined) return <Skeleton height={480} />;
  return (
    <Stack gap="sm">
      <Group>
        <Button
          component="a"
          href={url}
          download={`${id}.eml`}
          variant="default"
          size="xs"
          leftSection={<DownloadIcon size={15} />}
        >
          Download .eml
        </Button>
      </Group>
      <CodeBlock code={source.data} label="Raw source" />
    </Stack>
  );
}

export function Attachments({ message: { id, content } }: { message: MessageDetail }) {
  if (content === null) return null;
  return (
    <Paper>
      {content.attachments.map(({ index, filename, contentType, size }) => (
        <a
          key={index}
          className="row-link attachment-line"
          href={urlOf('getAttachment', { params: { id, index: String(index) } })}
          download={filename}
        >
          <ClipIcon size={17} />
          <Text size="sm" fw={500} truncate>
            {filename}
          </Text>
          <Text size="sm" c="dimmed">
            {contentType}
          </Text>
          <Text size="sm" c="dimmed">
            {saySize(size)}
          </Text>
        </a>
      ))}
    </Paper>
  );
}
