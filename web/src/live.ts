// Server-sent events as a hook: every state that a stream reports.
import { useEffect, useRef } from 'react';
import { accountShown } from './api.ts';

const REOPENED_AFTER_MS = 4000;

/** `event` is the name of the events; a null `url` listens to nothing. */
export function useLive<State>(
  url: string | null,
  event: string,
  onState: (state: State) => void,
): void {
  const newest = useRef(onState);
  newest.current = onState;
  useEffect(() => {
    if (url === null) return;
    // A stream cannot set a header, so the URL says which account it is about.
    const account = accountShown();
    const address = account === undefined ? url : `${url}?account=${account}`;
    let source: EventSource;
    let reopening: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      source = new EventSource(address);
      source.addEventListener(event, (told) =>
        newest.current(JSON.parse((told as MessageEvent<string>).data) as State),
      );
      // The browser reopens a connection that was cut, but not one that was refused: while the
      // service starts, or until someone has signed in again.
      source.onerror = () => {
        if (source.readyState !== EventSource.CLOSED) return;
        reopening = setTimeout(open, REOPENED_AFTER_MS);
      };
    };
    open();
    return () => {
      clearTimeout(reopening);
      source.close();
    };
  }, [url, event]);
}
