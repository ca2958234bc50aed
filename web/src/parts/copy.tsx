// Things to copy: a button, a line of code with one, and a secret that is shown only once.
import { ActionIcon, Alert, Box, Code, CopyButton, Group, Stack } from '@mantine/core';
import { CheckIcon, CopyIcon, WarningIcon } from './icons.tsx';
import { Tooltip } from './tooltip.tsx';

export function Copy({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon onClick={copy} aria-label={label} color={copied ? 'martin' : 'gray'}>
            {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** One value in monospace with its copy button; a long one is cut, not wrapped. */
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
