// A search that is kept in the page's address, so that it can be shared and returned to: what is
// typed goes there when typing pauses. For every search box of a list.
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ChangeEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';

const PAUSE_MS = 300;

/** For an input: its value, and when to pass it on. */
export function useTyped(text: string, onText: (text: string) => void) {
  const [value, setValue] = useState(text);
  const told = useRef(text);
  const tell = useDebouncedCallback((typed: string) => {
    told.current = typed.trim();
    onText(told.current);
  }, PAUSE_MS);
  // The box's own value comes back from the address while someone is still typing.
  useEffect(() => {
    if (text !== told.current) setValue(text);
    told.current = text;
  }, [text]);
  return {
    value,
    onChange: (event: ChangeEvent<HTMLInputElement>) => {
      setValue(event.currentTarget.value);
      tell(event.currentTarget.value);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter') tell.flush();
    },
    // Later, it would take someone who has opened something back to the list.
    onBlur: () => tell.flush(),
  };
}

/** The search of the current page, and how to change it. */
export function useSearchText(): { search: string; onSearch: (text: string) => void } {
  const { q = '' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const onSearch = (text: string) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, q: text === '' ? undefined : text }),
      replace: true,
    });
  return { search: q, onSearch };
}
