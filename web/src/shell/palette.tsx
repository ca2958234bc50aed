// ⌘K: one box that leads everywhere. It offers pages, a few actions, everything in the account that
// has a name, and searches for the typed text in messages, suppressions and the reference. A
// combobox (ARIA 1.2): focus stays in the box, arrows move the active option. Loaded when it is
// first opened.
import { TextInput } from '@mantine/core';
import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { call } from '../api.ts';
import { useEnter } from '../enter.ts';
import { useRead, useRows } from '../operations.ts';
import { Dialog } from '../parts/dialog.tsx';
import { SearchIcon } from '../parts/icons.tsx';
import { tellFault } from '../parts/results.ts';
import { useMay, useMe } from '../session.ts';
import type { BoxProps } from './keyboard.tsx';
import { useEntries } from './navigation.tsx';

interface Choice {
  label: string;
  /** What kind of thing it is, shown on the right. */
  kind: string;
  act: () => void;
  /** Fetches the page it leads to in advance. */
  ahead?: () => void;
}

const MOST = 12;

/** Pages that are not in the navigation. */
const MORE_PAGES = [
  { to: '/profile', label: 'Profile & password' },
  { to: '/connect/reference', label: 'API reference' },
] as const;

/** Actions whose page has a dialog: the page opens with the dialog open. */
const ACTIONS = [
  { label: 'Create an API key', to: '/keys', dialog: 'key', role: 'developer' },
  { label: 'Add a domain', to: '/senders', dialog: 'domain', role: 'developer' },
  { label: 'Add a sender address', to: '/senders', dialog: 'address', role: 'developer' },
  { label: 'Add a webhook endpoint', to: '/webhooks', dialog: 'endpoint', role: 'developer' },
  { label: 'Suppress addresses', to: '/suppressions', dialog: 'addresses', role: 'developer' },
  { label: 'New template', to: '/templates', dialog: 'template', role: 'developer' },
  { label: 'New stream', to: '/streams', dialog: 'stream', role: 'developer' },
  { label: 'Invite someone', to: '/team', dialog: 'invitation', role: 'owner' },
] as const;

/** The shell keeps what was typed and entered before this was loaded. */
interface PaletteProps extends BoxProps {
  opened: boolean;
  entered: boolean;
}

export function Palette({ opened, typed, entered, onType, onEnter, onClose }: PaletteProps) {
  const [active, setActive] = useState(0);
  const id = useId();
  const { choices, isReading } = useChoices(typed, opened);
  const chosen = choices[Math.min(active, choices.length - 1)];
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen last time is over
  useEffect(() => setActive(0), [opened]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice, not the same made again
  useEffect(() => {
    if (opened) chosen?.ahead?.();
  }, [opened, chosen?.label]);
  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    choice.act();
  };
  // Whoever types a name and presses Enter before the names are loaded means the thing with that
  // name, not a search for it.
  const isDecided = entered && chosen !== undefined && !(isReading && chosen.kind === 'Search');
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is decided
  useEffect(() => {
    if (isDecided) go(chosen);
  }, [isDecided]);
  const choose = (at: number) => {
    setActive(at);
    onEnter(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length > 0) {
      event.preventDefault();
      choose((active + step + choices.length) % choices.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      // Pressing it twice means not wanting to wait.
      if (entered) go(chosen);
      else onEnter(true);
    }
  };
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      withCloseButton={false}
      // People who know the way keep typing at once.
      transitionProps={{ duration: 0 }}
      padding={0}
      yOffset="12vh"
      attributes={{ content: { 'aria-label': 'Go to' } }}
    >
      <TextInput
        className="palette-box"
        variant="unstyled"
        size="md"
        px="md"
        placeholder="Find anything, or search messages"
        leftSection={<SearchIcon size={18} />}
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls={`${id}list`}
        aria-activedescendant={chosen && `${id}${choices.indexOf(chosen)}`}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        ref={takeFocus}
        value={typed}
        onChange={(event) => {
          onType(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}list`} role="listbox" aria-label="Where to" className="palette-list">
        {choices.map((choice, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box has the keys, as the pattern asks
          // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the box
          <div
            key={`${choice.kind} ${choice.label}`}
            id={`${id}${at}`}
            role="option"
            aria-selected={choice === chosen}
            ref={choice === chosen ? intoView : undefined}
            className="palette-option"
            onMouseMove={() => at !== active && choose(at)}
            onClick={() => go(choice)}
          >
            <span className="cut">{choice.label}</span>
            <span className="palette-kind">{choice.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/**
 * Mantine would do it a moment later, and letters would be lost. The cursor goes after what was
 * typed before this was loaded.
 */
function takeFocus(box: HTMLInputElement | null): void {
  box?.focus();
  box?.setSelectionRange(box.value.length, box.value.length);
}

/** Arrow keys may move beyond the visible part of the list. */
const intoView = (option: HTMLElement | null): void => option?.scrollIntoView({ block: 'nearest' });

function useChoices(typed: string, opened: boolean): { choices: Choice[]; isReading: boolean } {
  const navigate = useNavigate();
  const router = useRouter();
  const leads = (to: NavigateOptions) => ({
    act: () => void navigate(to),
    ahead: () => void router.preloadRoute(to),
  });
  const text = typed.trim();
  const { accounts, account, locked } = useMe();
  const enter = useEnter();
  const roles = { developer: useMay('developer'), owner: useMay('owner') };
  const entries = useEntries();
  const templates = useRead('templates.list', {}, { enabled: opened && !!account && !locked });
  const { things, isReading } = useThings(opened && text !== '' && !!account && !locked);
  const pages = [...entries, ...MORE_PAGES].map(
    ({ to, label }): Choice => ({ label, kind: 'Page', ...leads({ to }) }),
  );
  const actions = ACTIONS.filter(({ role }) => roles[role]).map(
    ({ label, to, dialog }): Choice => ({
      label,
      kind: 'Action',
      ...leads({ to, search: { dialog } }),
    }),
  );
  const others = accounts
    .filter(({ id }) => id !== account?.id)
    .map(
      ({ id, name }): Choice => ({
        label: `Switch to ${name}`,
        kind: 'Account',
        act: () => {
          call('switchAccount', { body: { accountId: id } })
            .then((me) => {
              enter(me);
              return navigate({ to: '/' });
            })
            .catch(tellFault);
        },
      }),
    );
  const named = (templates.data?.data ?? []).map(
    ({ slug, name }): Choice => ({
      label: name === slug ? slug : `${name} (${slug})`,
      kind: 'Template',
      ...leads({ to: '/templates/$slug', params: { slug } }),
    }),
  );
  const held = things.map(
    ({ label, kind, to }): Choice => ({ label, kind, ...leads(to as NavigateOptions) }),
  );
  const found = ranked([...pages, ...actions, ...others, ...named, ...held], text);
  const chooseFrom = (choices: Choice[]) => ({
    choices,
    isReading: isReading || templates.isLoading,
  });
  if (text === '' || account === null) return chooseFrom(found.slice(0, MOST));
  const isId = /^msg_[0-9A-Z]{26}$/i.test(text);
  const search: Choice = isId
    ? {
        label: `Open ${text}`,
        kind: 'Message',
        ...leads({ to: '/messages/$id', params: { id: text } }),
      }
    : {
        label: `Search messages for “${text}”`,
        kind: 'Search',
        ...leads({ to: '/messages', search: { q: queryOf(text) } }),
      };
  if (isId) return chooseFrom([search, ...found].slice(0, MOST));
  const elsewhere: Choice = text.includes('@')
    ? {
        label: `Search suppressions for “${text}”`,
        kind: 'Search',
        ...leads({ to: '/suppressions', search: { q: text } }),
      }
    : {
        label: `Search the API reference for “${text}”`,
        kind: 'Search',
        ...leads({ to: '/connect/reference', search: { q: text } }),
      };
  return chooseFrom([...found.slice(0, MOST - 2), search, elsewhere]);
}

interface Thing {
  label: string;
  kind: string;
  to: object;
}

/** Everything in the account that someone gave a name. */
function useThings(enabled: boolean): { things: Thing[]; isReading: boolean } {
  const own = useRead('templates.listOwn', {}, { enabled });
  const endpoints = useRead('webhooks.list', {}, { enabled });
  const keys = useRows('keys.list', {}, { enabled });
  const domains = useRows('domains.list', {}, { enabled });
  const addresses = useRows('addresses.list', {}, { enabled });
  const streams = useRows('streams.list', {}, { enabled });
  const people = useRead('team.list', {}, { enabled });
  const all = [own, endpoints, keys, domains, addresses, streams, people];
  const things = [
    ...(own.data?.data ?? [])
      .filter(({ state }) => state !== 'published')
      .map(({ slug, name, state }) => ({
        label: `${name} (${slug}, ${state})`,
        kind: 'Template',
        to: { to: '/templates/$slug', params: { slug } },
      })),
    ...(endpoints.data?.data ?? []).map(({ id, url }) => ({
      label: url,
      kind: 'Webhook',
      to: { to: '/webhooks/$id', params: { id } },
    })),
    ...keys.rows
      .filter(({ revoked_at }) => revoked_at === null)
      .map(({ name, prefix }) => ({
        label: name ? `${name} (${prefix}…)` : `${prefix}…`,
        kind: 'API key',
        to: { to: '/keys' },
      })),
    ...domains.rows.map(({ domain }) => ({
      label: domain,
      kind: 'Sender',
      to: { to: '/senders' },
    })),
    ...addresses.rows.map(({ address }) => ({
      label: address,
      kind: 'Sender',
      to: { to: '/senders' },
    })),
    ...streams.rows.map(({ name, title }) => ({
      label: title === name ? name : `${title} (${name})`,
      kind: 'Stream',
      to: { to: '/streams' },
    })),
    ...(people.data?.data ?? []).map(({ name, email }) => ({
      label: name ? `${name} (${email})` : email,
      kind: 'Person',
      to: { to: '/team' },
    })),
  ];
  return { things, isReading: all.some(({ isLoading }) => isLoading) };
}

/** An address means a recipient; text that already names a field is passed on as it is. */
const queryOf = (text: string): string =>
  /\w:/.test(text)
    ? text
    : text.includes('@')
      ? `to:${text}`
      : `subject:"${text.replaceAll('"', '')}"`;

/** Every word must occur; names that begin with the first one come first. */
function ranked(choices: Choice[], text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return choices.filter(({ kind }) => kind !== 'Template');
  const rank = ({ label }: Choice): number =>
    label.toLowerCase().startsWith(words[0]!)
      ? 0
      : new RegExp(`\\b${escaped(words[0]!)}`, 'i').test(label)
        ? 1
        : 2;
  return choices
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .sort((one, other) => rank(one) - rank(other));
}

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
