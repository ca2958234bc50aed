// Messages: search and an endless list. What is searched for stands in the address, so that it can
// be shared.
import { Button, Center, Group, Loader, Paper, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useIntersection } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useRows } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { MessagesIcon, SearchIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page } from '../../parts/page.tsx';
import { capital, statuses } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import type { MessagesSearch } from '../../router.tsx';
import { MessageLine } from './message-line.tsx';

export function MessagesPage() {
  const search = useSearch({ from: '/inside/messages' });
  return (
    <Page title="Messages" lead="Every mail this account sent, and what became of it.">
      <SearchForm search={search} />
      <MessageList search={search} />
    </Page>
  );
}

const fields = [
  { value: 'recipient', label: 'Recipient' },
  { value: 'subject', label: 'Subject' },
  { value: 'template', label: 'Template' },
  { value: 'tag', label: 'Tag' },
  { value: 'id', label: 'Message id' },
] as const;
type Field = (typeof fields)[number]['value'];

const periods = [
  { value: '', label: 'Any time' },
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
  { value: 'own', label: 'Between …' },
];

function SearchForm({ search }: { search: MessagesSearch }) {
  const navigate = useNavigate({ from: '/messages' });
  const used = fields.find(({ value }) => search[value] !== undefined)?.value;
  const [field, setField] = useState<Field>(used ?? 'recipient');
  const [text, setText] = useState(search[field] ?? '');
  const [period, setPeriod] = useState(search.from || search.until ? 'own' : '');
  const go = (change: MessagesSearch) =>
    void navigate({ search: (before) => dropEmpty({ ...before, ...change }), replace: true });
  const find = useDebouncedCallback((by: Field, what: string) => {
    go({ recipient: '', subject: '', template: '', tag: '', id: '', [by]: what.trim() });
  }, 300);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          find.flush();
        }}
      >
        <Group mb="md" gap="xs" align="flex-end">
          <Select
            aria-label="Search by"
            w={140}
            data={[...fields]}
            value={field}
            onChange={(value) => {
              setField(value as Field);
              if (text !== '') find(value as Field, text);
            }}
          />
          <TextInput
            flex={1}
            miw={200}
            type="search"
            aria-label={`Search by ${field}`}
            placeholder={
              {
                recipient: 'ada@example.net',
                subject: 'Part of the subject',
                template: 'Its slug',
                tag: 'The whole tag',
                id: 'msg_…',
              }[field]
            }
            leftSection={<SearchIcon size={16} />}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              find(field, event.currentTarget.value);
            }}
          />
          <Select
            aria-label="Status"
            w={150}
            value={search.status ?? ''}
            onChange={(value) => go({ status: value as MessagesSearch['status'] })}
            data={[
              { value: '', label: 'Any status' },
              ...statuses.map((value) => ({ value, label: capital(value) })),
            ]}
          />
          <Select
            aria-label="Time"
            w={150}
            value={period}
            data={periods}
            onChange={(value) => {
              setPeriod(value ?? '');
              if (value === 'own') return;
              const hours = Number(value);
              go({ from: hours ? hoursAgo(hours) : '', until: '' });
            }}
          />
          {period === 'own' && (
            <Group gap="xs" w="100%">
              <TextInput
                label="From"
                type="datetime-local"
                value={forInput(search.from)}
                onChange={(event) => go({ from: fromInput(event.currentTarget.value) })}
              />
              <TextInput
                label="Until"
                type="datetime-local"
                value={forInput(search.until)}
                onChange={(event) => go({ until: fromInput(event.currentTarget.value) })}
              />
            </Group>
          )}
        </Group>
      </form>
    </search>
  );
}

const dropEmpty = (search: MessagesSearch): MessagesSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''));

const hoursAgo = (hours: number): string =>
  new Date(Math.floor(Date.now() / 60_000 - hours * 60) * 60_000).toISOString();

const fromInput = (local: string): string => (local === '' ? '' : new Date(local).toISOString());

/** `datetime-local` speaks local time without a zone. */
function forInput(iso: string | undefined): string {
  if (!iso) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function MessageList({ search }: { search: MessagesSearch }) {
  const { from, until, ...filter } = search;
  const pages = useRows('messages.list', { ...filter, after: from, before: until, limit: 50 });
  const { ref, entry } = useIntersection({ rootMargin: '600px' });
  const { hasNextPage, isFetching, fetchNextPage } = pages;
  const near = entry?.isIntersecting === true;
  // A page can hold no hits and still have a next one: the search goes on by itself as long as the
  // end is in sight.
  useEffect(() => {
    if (near && hasNextPage && !isFetching) void fetchNextPage();
  }, [near, hasNextPage, isFetching, fetchNextPage]);

  if (pages.isError && !pages.data) return <Fault fault={pages.error} retry={pages.refetch} />;
  if (!pages.data) return <LoadingRows rows={10} />;
  const rows = pages.data.pages.flatMap((page) => page.data);
  const searching = Object.keys(search).length > 0;
  if (rows.length === 0 && !hasNextPage) {
    return searching ? (
      <Empty
        icon={<SearchIcon />}
        title="Nothing matches"
        action={
          <Button component={Link} to="/messages" variant="default" reloadDocument>
            Clear the search
          </Button>
        }
      >
        Whole addresses are found in To, Cc and Bcc; tags are matched exactly.
      </Empty>
    ) : (
      <Empty
        icon={<MessagesIcon />}
        title="No messages yet"
        action={
          <Button component={Link} to="/">
            Send your first mail
          </Button>
        }
      >
        They appear here the moment the API takes them.
      </Empty>
    );
  }
  const next = pages.data.pages.at(-1)?.next;
  return (
    <Paper style={{ overflow: 'hidden' }} aria-busy={isFetching}>
      {rows.map((row) => (
        <MessageLine key={row.id} row={row} />
      ))}
      <Center ref={ref} p="md" mih={56}>
        {hasNextPage ? (
          <Group gap="xs">
            <Loader size="xs" />
            {next && (
              <Text size="xs" c="dimmed">
                searched back to <Time at={timeOf(next)} />
              </Text>
            )}
          </Group>
        ) : (
          <Text size="xs" c="dimmed">
            {rows.length === 1 ? 'One message' : `${rows.length} messages`}, that is all
          </Text>
        )}
      </Center>
    </Paper>
  );
}

/** A message id begins with its time: ten characters of Crockford's base 32, in milliseconds. */
function timeOf(id: string): string {
  const digits = [...id.slice('msg_'.length, 'msg_'.length + 10)];
  const ms = digits.reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0);
  return new Date(ms).toISOString();
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
