// What a message contains: the email as its reader sees it, its text, headers, source and
// attachments.
import { Button, Group, Paper, Skeleton, Stack, Table, Text } from '@mantine/core';
import type { MessageContent } from '../../../../src/client/operations.ts';
import { api, useRead } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { bytesOf, download } from '../../parts/download.ts';
import { Fault, isAbsent } from '../../parts/fault.tsx';
import { ClipIcon, DownloadIcon } from '../../parts/icons.tsx';
import { Empty, TableBox } from '../../parts/page.tsx';
import { tellFault } from '../../parts/results.ts';
import { saySize } from '../../parts/size.ts';

interface NoContentProps {
  sealed: boolean;
  asked: { error: unknown; refetch: () => unknown };
}

/** Why there is nothing to show, or not yet. */
export function NoContent({ sealed, asked: { error, refetch } }: NoContentProps) {
  if (sealed) {
    return (
      <Empty title="For its recipient only">
        The service itself sent this email, and anyone with its link can use it. Operators can view
        it.
      </Empty>
    );
  }
  if (error === null) return <Skeleton height={420} />;
  // If the service could not answer now, that does not mean the content is gone.
  if (!isAbsent(error)) return <Fault fault={error} retry={refetch} />;
  return (
    <Empty title="The content was deleted">
      It is older than the service keeps content (CONTENT_RETENTION_DAYS). The timeline is kept.
    </Empty>
  );
}

/** Everything that went out, our own headers too; Bcc recipients are in no header. */
export function Headers({ id, bcc }: { id: string; bcc: string[] }) {
  const source = useRead('messages.source', { sm_mail_id: id });
  if (source.isError) return <Fault fault={source.error} retry={source.refetch} />;
  if (source.data === undefined) return <Skeleton height={320} />;
  const rows = headersIn(new TextDecoder().decode(bytesOf(source.data)));
  return (
    <HeaderTable
      rows={bcc.length > 0 ? [...rows, ['Bcc (envelope only)', bcc.join(', ')]] : rows}
    />
  );
}

/** Up to the first empty line; a line that begins with a space continues the previous one. */
const headersIn = (source: string): [name: string, value: string][] =>
  (source.split(/\r?\n\r?\n/, 1)[0] ?? '')
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });

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
