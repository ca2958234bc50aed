// What someone edits, as the server renders it: the emails beside the editor and beside the
// branding form.
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';

const PAUSE_MS = 250;

/**
 * Requested when typing pauses. `last` is the last one that could be rendered: it stays while there
 * is a fault.
 */
export function useDrawn<Request, Drawn>(
  name: string,
  request: Request,
  draw: (request: Request) => Promise<Drawn>,
) {
  // As text, which is equal as long as nothing changes: a new object on every render would never
  // settle.
  const [asked] = useDebouncedValue(JSON.stringify(request), PAUSE_MS);
  const { data, error } = useQuery({
    queryKey: [name, asked],
    queryFn: () => draw(JSON.parse(asked) as Request),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
  const last = useRef(data);
  last.current = data ?? last.current;
  return { last: last.current, fault: error };
}
