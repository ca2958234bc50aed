// Messages: search and an endless list. The search is in the address, so that it can be shared.
import { Button, Center, Group, Loader, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useRows } from '../../operations.ts';
import { MessagesIcon, SearchIcon } from '../../parts/icons.tsx';
import { List, RowBox } from '../../parts/list.tsx';
import { LoadingRows, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { MessageLine } from './message-line.tsx';
import { type Filter, readQuery } from './query.ts';
import { SearchBox } from './search-box.tsx';

export function MessagesPage() {
  const { q = '' } = useSearch({ from: '/inside/messages' });
  const navigate = useNavigate({ from: '/messages' });
  // Times such as `7d` count from when the search was made.
  const query = useMemo(() => readQuery(q, Date.now()), [q]);
  return (
    <Page title="Messages" lead="Every email this account has sent, and what happened to it.">
      <SearchBox
        text={q}
        faults={query.faults}
        onText={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
      />
      <MessageList filter={query.filter} />
    </Page>
  );
}

function MessageList({ filter }: { filter: Filter }) {
  const messages = useRows('messages.list', { ...filter, limit: 50 });
  return (
    <List
      asked={messages}
      rows={messages.rows}
      loading={<LoadingRows rows={10} />}
      empty={Object.keys(filter).length > 0 ? noHit : noMessage}
      endless
    >
      {(rows) => (
        <RowBox busy={messages.isFetching}>
          {rows.map((row) => (
            <MessageLine key={row.id} row={row} />
          ))}
          <EndOfMessages messages={messages} />
        </RowBox>
      )}
    </List>
  );
}

const noHit = {
  icon: <SearchIcon />,
  title: 'Nothing matches',
  children:
    'Addresses are searched in To, Cc and Bcc. Tags and words of the subject must match exactly.',
  action: (
    <Button component={Link} to="/messages" variant="default">
      Clear the search
    </Button>
  ),
};
const noMessage = {
  icon: <MessagesIcon />,
  title: 'No messages yet',
  children: 'They appear here as soon as the API accepts them.',
  action: (
    <Button component={Link} to="/">
      Send your first email
    </Button>
  ),
};

type Messages = ReturnType<typeof useRows<'messages.list'>>;

/**
 * Loads more by itself as long as it is in view: a page can have no hits and still be followed by
 * one that has.
 */
function EndOfMessages({ messages }: { messages: Messages }) {
  const { rows, data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = messages;
  const { ref, entry } = useIntersection({ rootMargin: '600px' });
  // What could not be loaded is retried by a button, not automatically forever.
  const goesOn = entry?.isIntersecting === true && hasNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  const next = data?.pages.at(-1)?.next;
  if (isFetchNextPageError) return <div ref={ref} />;
  return (
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
  );
}

/** A message id begins with its time: ten characters of Crockford's base 32, in milliseconds. */
function timeOf(id: string): string {
  const digits = [...id.slice('msg_'.length, 'msg_'.length + 10)];
  const ms = digits.reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0);
  return new Date(ms).toISOString();
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
