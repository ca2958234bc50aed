// A search that stands in the page's address, so that it can be shared and gone back to: what is
// typed goes there once whoever types pauses. For every box that a list is searched with.
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ChangeEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';

const PAUSE_MS = 300;

/** For an input: what stands in it, and when it is told on. */
export function useTyped(text: string, onText: (text: string) => void) {
  const [value, setValue] = useState(text);
  const told = useRef(text);
  const tell = useDebouncedCallback((typed: string) => {
    told.current = typed.trim();
    onText(told.current);
  }, PAUSE_MS);
  // What the box itself told comes back while someone types on.
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
    // Later it would call whoever opened something back to the list.
    onBlur: () => tell.flush(),
  };
}

/** The search of the page that is shown, and how it becomes another one. */
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
