// Things to copy: a button, a line of code with one, and a secret that is shown only once.
import { ActionIcon, Alert, Box, Code, Group, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { CheckIcon, CopyIcon, WarningIcon } from './icons.tsx';
import { tellFault } from './results.ts';
import { Tooltip } from './tooltip.tsx';

const SAID_FOR_MS = 1500;

export function Copy({ value, label }: { value: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(setCopied, SAID_FOR_MS, false);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        onClick={({ currentTarget: button }) =>
          copy(value, button).then(
            () => setCopied(true),
            () => tellFault('The browser did not allow it. Select the text and copy it.'),
          )
        }
        aria-label={label}
        color={copied ? 'martin' : 'gray'}
      >
        {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

/**
 * Over plain HTTP browsers have no clipboard, except on localhost; there, the selection is copied.
 */
async function copy(text: string, button: HTMLElement): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const box = Object.assign(document.createElement('textarea'), { value: text });
  // Beside the button: a dialog would take the focus away from anything outside it.
  button.after(box);
  box.select();
  const isCopied = document.execCommand('copy');
  box.remove();
  button.focus();
  if (!isCopied) throw new Error('not copied');
}

/** One value in monospace with its copy button; a long one is cut off, not wrapped. */
export function CopyLine({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" miw={0}>
      <Code className="copy-line" title={value}>
        {value}
      </Code>
      <Copy value={value} label={label} />
    </Group>
  );
}

/** Several lines of code; scrolls sideways, and so must be reachable by keyboard. */
export function CodeBlock({
  code,
  label,
  copied = code,
}: {
  code: string;
  label: string;
  copied?: string;
}) {
  return (
    <Box className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it needs a place in the tab order (WCAG 2.1.1) */}
      <section className="code" tabIndex={0} aria-label={label}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
      <Box className="code-copy">
        <Copy value={copied} label={`Copy ${label.toLowerCase()}`} />
      </Box>
    </Box>
  );
}

/** For keys, webhook secrets and links that cannot be looked up again. */
export function Secret({ value, label, note }: { value: string; label: string; note: string }) {
  return (
    <Stack gap="sm">
      <Alert color="yellow" icon={<WarningIcon />} title="Copy it now">
        {note}
      </Alert>
      <Group gap={4} wrap="nowrap" className="secret">
        <Code className="copy-line" data-testid="secret">
          {value}
        </Code>
        <Copy value={value} label={`Copy ${label}`} />
      </Group>
    </Stack>
  );
}
