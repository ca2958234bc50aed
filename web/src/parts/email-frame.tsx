// An email as its reader sees it. It is a stranger's HTML, so it is shown in a sandboxed frame from
// the server, which has no origin, its own policy and no way out. Messages carry the email in and
// its height back.
import { useEffect, useRef } from 'react';
import { PREVIEW_FRAME } from '../../../src/dashboard/contract.ts';

interface FrameProps {
  html: string;
  title: string;
  /** A frame's `prefers-color-scheme` is the `color-scheme` of its element. */
  dark?: boolean;
  /** False: as in email programs that load no images. */
  images?: boolean;
  onHeight?: (height: number) => void;
  /** The first words of the email, hidden or not. */
  onWords?: (words: string) => void;
  height: number;
  /** Width of the reader's window; by default the frame's own. */
  width?: number;
  inert?: boolean;
}

export function EmailFrame({
  html,
  title,
  dark = false,
  images = true,
  onHeight,
  onWords,
  height,
  width,
  inert,
}: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const loaded = useRef(false);
  const newest = useRef({ html, images, onHeight, onWords });
  newest.current = { html, images, onHeight, onWords };

  const show = () => {
    const { html, images } = newest.current;
    // Nobody clicks in a thumbnail, or asks how high it is.
    frame.current?.contentWindow?.postMessage({ html, images, measured: !inert }, '*');
  };
  useEffect(() => {
    const listen = (event: MessageEvent<{ height?: unknown; words?: unknown }>) => {
      if (event.source !== frame.current?.contentWindow) return;
      const { height, words } = event.data ?? {};
      if (typeof height === 'number') newest.current.onHeight?.(height);
      if (typeof words === 'string') newest.current.onWords?.(words);
    };
    window.addEventListener('message', listen);
    return () => window.removeEventListener('message', listen);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another email is shown when these change
  useEffect(() => {
    if (loaded.current) show();
  }, [html, images]);

  return (
    <iframe
      ref={frame}
      src={`.${PREVIEW_FRAME}`}
      title={title}
      sandbox="allow-scripts allow-popups"
      className="email-frame"
      loading="lazy"
      tabIndex={inert ? -1 : undefined}
      style={{ height, width, colorScheme: dark ? 'dark' : 'light' }}
      onLoad={() => {
        loaded.current = true;
        show();
      }}
    />
  );
}
