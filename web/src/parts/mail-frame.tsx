// A mail as its reader sees it. It is somebody's HTML, so it is shown in a sandboxed frame of the
// server's own, which has no origin, a policy of its own and no way out; the mail goes in and its
// height comes back by messages.
import {
  ActionIcon,
  Box,
  Group,
  SegmentedControl,
  Skeleton,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { PREVIEW_FRAME } from '../../../src/dashboard/contract.ts';
import { DesktopIcon, MoonIcon, PhoneIcon, SunIcon } from './icons.tsx';

interface FrameProps {
  html: string;
  title: string;
  /** A frame's `prefers-color-scheme` is the `color-scheme` of its element. */
  dark?: boolean;
  onHeight?: (height: number) => void;
  height: number | string;
  inert?: boolean;
}

export function MailFrame({ html, title, dark = false, onHeight, height, inert }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const loaded = useRef(false);
  const newest = useRef({ html, onHeight });
  newest.current = { html, onHeight };

  const show = () => frame.current?.contentWindow?.postMessage({ html: newest.current.html }, '*');
  useEffect(() => {
    const listen = (event: MessageEvent<{ height?: unknown }>) => {
      if (event.source !== frame.current?.contentWindow) return;
      if (typeof event.data?.height === 'number') newest.current.onHeight?.(event.data.height);
    };
    window.addEventListener('message', listen);
    return () => window.removeEventListener('message', listen);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another mail is shown when `html` changes
  useEffect(() => {
    if (loaded.current) show();
  }, [html]);

  return (
    <iframe
      ref={frame}
      src={PREVIEW_FRAME}
      title={title}
      sandbox="allow-scripts allow-popups"
      className="mail-frame"
      loading="lazy"
      tabIndex={inert ? -1 : undefined}
      style={{ height, colorScheme: dark ? 'dark' : 'light' }}
      onLoad={() => {
        loaded.current = true;
        show();
      }}
    />
  );
}

/** The mail with switches for the width of a phone and for a dark mail program. */
export function MailPreview({
  html,
  title,
  minHeight = 480,
}: {
  html: string | undefined;
  title: string;
  minHeight?: number;
}) {
  const [device, setDevice] = useState('desktop');
  const [dark, setDark] = useState(false);
  const [height, setHeight] = useState(minHeight);
  return (
    <Box>
      <Group justify="space-between" mb="xs">
        <SegmentedControl
          size="xs"
          value={device}
          onChange={setDevice}
          aria-label="Width of the preview"
          data={[
            {
              value: 'desktop',
              label: <Choice icon={<DesktopIcon size={15} />} label="Desktop" />,
            },
            { value: 'mobile', label: <Choice icon={<PhoneIcon size={15} />} label="Mobile" /> },
          ]}
        />
        <Tooltip
          label={dark ? 'Show as in a light mail program' : 'Show as in a dark mail program'}
        >
          <ActionIcon
            variant="default"
            aria-label="Dark mail program"
            aria-pressed={dark}
            onClick={() => setDark(!dark)}
          >
            {dark ? <SunIcon size={16} /> : <MoonIcon size={16} />}
          </ActionIcon>
        </Tooltip>
      </Group>
      <Box className="mail-stage" data-dark={dark || undefined}>
        <Box
          className="mail-paper"
          style={{ maxWidth: device === 'mobile' ? 375 : 720, minHeight }}
        >
          {html === undefined ? (
            <Skeleton height={minHeight} aria-label="Loading the preview" />
          ) : (
            <MailFrame
              html={html}
              title={title}
              dark={dark}
              height={Math.max(minHeight, height)}
              onHeight={setHeight}
            />
          )}
        </Box>
      </Box>
    </Box>
  );
}

function Choice({ icon, label }: { icon: React.ReactNode; label: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      {icon}
      <VisuallyHidden>{label}</VisuallyHidden>
      <span aria-hidden="true">{label}</span>
    </Group>
  );
}
