// An email before or after it was sent, as people will see it: the line in their inbox, on a
// desktop, on a phone, in a dark email program, without images, as plain text. Laid out at the
// reader's width and then scaled: a narrow column on our page must not make it a phone's. Every
// page that shows an email uses this.

import { ActionIcon, Alert, Box, Group, Skeleton } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { CodeBlock } from './copy.tsx';
import { EmailFrame } from './email-frame.tsx';
import { DesktopIcon, ImageIcon, MoonIcon, PhoneIcon, SunIcon, TextIcon } from './icons.tsx';
import { AfterPaint } from './later.tsx';
import { LOADING } from './page.tsx';
import { Segments } from './segments.tsx';
import { Tooltip } from './tooltip.tsx';

export interface ShownEmail {
  subject?: string | undefined;
  /** Who the inbox says it is from. */
  from?: string | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
}

interface PreviewProps {
  /** Undefined: it is being rendered. */
  email: ShownEmail | undefined;
  title: string;
  /** Why there is none, in words; the last email that could be rendered stays below it. */
  fault?: string | undefined;
  minHeight?: number;
  /** Without controls; the whole email scaled to the available room. */
  plain?: boolean;
}

type View = 'desktop' | 'phone' | 'text';

/**
 * The column of 600 pixels that emails are designed for, with the margin it has in an email
 * program.
 */
const WIDTHS = { desktop: 640, phone: 375 };

/** The switches and the line in the inbox. */
const ABOVE_PAPER = 136;

export function EmailPreview(props: PreviewProps) {
  const { minHeight = 480, plain = false } = props;
  // It takes as long as the page around it, whose reader looks at the heading first.
  return (
    <AfterPaint meanwhile={<div style={{ height: minHeight + (plain ? 0 : ABOVE_PAPER) }} />}>
      <Preview {...props} {...{ minHeight, plain }} />
    </AfterPaint>
  );
}

function Preview({
  email,
  title,
  fault,
  minHeight,
  plain,
}: PreviewProps & { minHeight: number; plain: boolean }) {
  const [chosen, setView] = useState<View>('desktop');
  const [dark, setDark] = useState(false);
  const [images, setImages] = useState(true);
  const [words, setWords] = useState('');
  const view = email && (email.html ?? null) === null ? 'text' : chosen;
  return (
    <Box>
      {!plain && (
        <Group justify="space-between" mb="xs" gap="xs">
          <ViewSwitch view={view} onView={setView} htmlToo={email?.html !== null} />
          <Group gap={6}>
            <Toggle
              label={images ? 'Show without images' : 'Show with images'}
              name="Without images"
              pressed={!images}
              onToggle={() => setImages(!images)}
              icon={<ImageIcon size={16} />}
            />
            <Toggle
              label={dark ? 'Show in light mode' : 'Show in dark mode'}
              name="Dark mode"
              pressed={dark}
              onToggle={() => setDark(!dark)}
              icon={dark ? <SunIcon size={16} /> : <MoonIcon size={16} />}
            />
          </Group>
        </Group>
      )}
      {fault !== undefined && (
        <Alert color="red" mb="sm" role="alert">
          {fault}
        </Alert>
      )}
      {!plain && email?.subject !== undefined && (
        <InboxRow
          email={email}
          words={(email.html ?? null) === null ? (email.text ?? '') : words}
        />
      )}
      {view === 'text' && <CodeBlock code={email?.text ?? ''} label="Text of the email" />}
      {/* If there is none and will be none, nothing looks as if it were loading. */}
      {view !== 'text' && (email !== undefined || fault === undefined) && (
        <Paper
          html={email?.html ?? undefined}
          {...{ title, dark, images, minHeight, plain }}
          width={WIDTHS[view]}
          onWords={setWords}
        />
      )}
    </Box>
  );
}

interface PaperProps {
  html: string | undefined;
  title: string;
  dark: boolean;
  images: boolean;
  minHeight: number;
  width: number;
  plain: boolean;
  onWords: (words: string) => void;
}

/** The reader's window, scaled down as a whole if there is less room. */
function Paper({ html, title, dark, images, minHeight, width, plain, onWords }: PaperProps) {
  const { ref, width: room } = useElementSize();
  const [height, setHeight] = useState(minHeight);
  const scale = room === 0 ? 1 : Math.min(1, room / width);
  const full = Math.max(plain ? 0 : minHeight, height);
  return (
    <Box className="mail-stage" data-dark={dark || undefined} data-plain={plain || undefined}>
      <div ref={ref}>
        {html === undefined ? (
          <Skeleton height={minHeight} {...LOADING} />
        ) : (
          <div className="mail-paper" style={{ width: width * scale, height: full * scale }}>
            <div className="mail-scaled" style={{ width, transform: `scale(${scale})` }}>
              <EmailFrame
                {...{ html, title, dark, images, width, onWords }}
                height={full}
                onHeight={setHeight}
              />
            </div>
          </div>
        )}
      </div>
    </Box>
  );
}

function ViewSwitch({
  view,
  onView,
  htmlToo,
}: {
  view: View;
  onView: (view: View) => void;
  htmlToo: boolean;
}) {
  const choice = (value: View, icon: ReactNode, label: string) => ({
    value,
    disabled: !htmlToo && value !== 'text',
    label: (
      <>
        {icon}
        {label}
      </>
    ),
  });
  return (
    <Segments
      value={view}
      onChange={onView}
      label="How the email is shown"
      choices={[
        choice('desktop', <DesktopIcon size={15} />, 'Desktop'),
        choice('phone', <PhoneIcon size={15} />, 'Phone'),
        choice('text', <TextIcon size={15} />, 'Text'),
      ]}
    />
  );
}

interface ToggleProps {
  label: string;
  name: string;
  pressed: boolean;
  onToggle: () => void;
  icon: ReactNode;
}

function Toggle({ label, name, pressed, onToggle, icon }: ToggleProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={pressed ? 'light' : 'default'}
        aria-label={name}
        aria-pressed={pressed}
        onClick={onToggle}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** Its line in an inbox: sender, subject, and the first words of the email, hidden or not. */
function InboxRow({ email, words }: { email: ShownEmail; words: string }) {
  const preheader = shorten(words);
  const from = email.from?.replace(/\s*<.*>$/, '').replace(/^"|"$/g, '');
  return (
    <figure className="inbox-row" aria-label="In the inbox">
      {from && <span className="inbox-from">{from}</span>}
      <span className="inbox-words">
        <b>{email.subject || '(no subject)'}</b>
        {preheader && <span className="inbox-preheader"> {preheader}</span>}
      </span>
    </figure>
  );
}

const LONGEST_PREHEADER = 140;

/** Without characters that only push other words out of the line, such as zero-width spaces. */
const shorten = (words: string): string =>
  words
    .replace(/\u00ad|\u034f|[\u200b-\u200f\u2007\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_PREHEADER);
