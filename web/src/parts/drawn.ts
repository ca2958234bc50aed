// What someone edits, as the server draws it: the emails beside the editor and beside the
// branding's form.
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';

const PAUSE_MS = 250;

/**
 * Asked for once whoever types pauses. `last` is the last one that could be drawn: it stays while
 * there is a fault.
 */
export function useDrawn<Request, Drawn>(
  name: string,
  request: Request,
  draw: (request: Request) => Promise<Drawn>,
) {
  // As text, which is the same as long as nothing changes: a new object at every turn would never
  // come to rest.
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
