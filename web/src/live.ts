// Server-sent events as a hook: the newest state a stream told, and whether it is connected.
import { useEffect, useRef, useState } from 'react';
import { accountShown } from './api.ts';

/**
 * `event` is the name of the events; a null `url` listens to nothing. EventSource reconnects by
 * itself.
 */
export function useLive<State>(
  url: string | null,
  event: string,
  onState: (state: State) => void,
): { connected: boolean } {
  const [connected, setConnected] = useState(false);
  const newest = useRef(onState);
  newest.current = onState;
  useEffect(() => {
    if (url === null) return;
    // A stream cannot set a header: it says here which account it is about.
    const account = accountShown();
    const source = new EventSource(account === undefined ? url : `${url}?account=${account}`);
    source.onopen = () => setConnected(true);
    source.onerror = () => setConnected(false);
    source.addEventListener(event, (told) => {
      setConnected(true);
      newest.current(JSON.parse((told as MessageEvent<string>).data) as State);
    });
    return () => source.close();
  }, [url, event]);
  return { connected };
}
