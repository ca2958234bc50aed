// The frame of a list, the same on every page: its search, placeholders while it loads, what is
// shown if it cannot be loaded or is empty, its rows, and the way to more of them. Before it: the
// result of useRows or useRead. Each page adds its words and one line per row.
import { Alert, Button, Group, Paper, Table, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Fault } from './fault.tsx';
import { SearchIcon } from './icons.tsx';
import { Empty, type EmptyProps, LoadingRows, TableBox } from './page.tsx';
import { useTyped } from './typed.ts';

/** What the frame needs to know about a read. */
interface Asked {
  isError: boolean;
  error: unknown;
  data: unknown;
  refetch: () => unknown;
  /** Of a list that is read page by page. */
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  isFetchNextPageError?: boolean;
  fetchNextPage?: () => unknown;
}

interface ListProps<Row> {
  /** Several, if a list is combined from them: all must have answered. */
  asked: Asked | Asked[];
  rows: Row[];
  /** Shown instead of rows if there are none. */
  empty?: EmptyProps;
  loading?: ReactNode;
  /** The rows load more by themselves, so they are mounted even while no page has had a hit. */
  endless?: boolean;
  children: (rows: Row[]) => ReactNode;
}

export function List<Row>(props: ListProps<Row>) {
  const { asked, rows, empty, loading = <LoadingRows />, endless = false, children } = props;
  const all = [asked].flat();
  const failed = all.find(({ isError }) => isError);
  const more = all.find(({ hasNextPage }) => hasNextPage);
  if (all.some(({ data }) => data === undefined)) {
    return failed ? <Fault fault={failed.error} retry={failed.refetch} /> : loading;
  }
  return (
    <>
      {failed && !failed.isFetchNextPageError && <Stale {...failed} />}
      {/* A page without hits may be followed by one that has some. */}
      {rows.length === 0 && !more && empty && <Empty {...empty} />}
      {(rows.length > 0 || (more && endless)) && children(rows)}
      {more && (!endless || more.isFetchNextPageError) && <ShowMore {...more} />}
    </>
  );
}

const sayFault = (fault: unknown): string =>
  fault instanceof Error ? fault.message : String(fault);

/** What is shown was read a while ago, and could not be read again. */
function Stale({ error, refetch }: Asked) {
  return (
    <Alert color="yellow" mb="md" role="alert" title="This is not up to date">
      <Group justify="space-between" gap="xs">
        {sayFault(error)}
        <Button size="compact-sm" variant="default" onClick={() => refetch()}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}

function ShowMore({ error, isFetchingNextPage, isFetchNextPageError, fetchNextPage }: Asked) {
  return (
    <Group mt="md">
      {isFetchNextPageError && (
        <Text size="sm" role="alert">
          {sayFault(error)}
        </Text>
      )}
      <Button
        variant="default"
        loading={isFetchingNextPage === true}
        onClick={() => void fetchNextPage?.()}
      >
        {isFetchNextPageError ? 'Try again' : 'Show more'}
      </Button>
    </Group>
  );
}

interface SearchBoxProps {
  label: string;
  placeholder?: string;
  /** Of `useSearchText`. */
  search: string;
  onSearch: (text: string) => void;
}

export function SearchBox({ label, placeholder = label, search, onSearch }: SearchBoxProps) {
  const typed = useTyped(search, onSearch);
  return (
    <TextInput
      className="search-box"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<SearchIcon size={16} />}
      {...typed}
    />
  );
}

type Column = string | { figures: string };

interface RowTableProps {
  label: string;
  /** What each column holds, from the left; the actions of a row are in one more. */
  columns: Column[];
  actions?: boolean;
  children: ReactNode;
}

/** Rows as a table, or as cards if there is little room. */
export function RowTable({ label, columns, actions = false, children }: RowTableProps) {
  return (
    <TableBox label={label}>
      <Table className="row-table">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <Table.Th key={column}>{column}</Table.Th>
              ) : (
                <Table.Th key={column.figures} className="to-the-right">
                  {column.figures}
                </Table.Th>
              ),
            )}
            {actions && <Table.Th aria-label="Actions" />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </TableBox>
  );
}

/** Rows that are links, each over the full width. */
export function RowBox({ busy, children }: { busy?: boolean; children: ReactNode }) {
  return (
    <Paper className="row-box" aria-busy={busy}>
      {children}
    </Paper>
  );
}
