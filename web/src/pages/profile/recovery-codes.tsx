// Recovery codes, shown only once: they stay until someone confirms that they are saved.
import '@mantine/core/styles/Checkbox.css';
import '@mantine/core/styles/CheckboxCard.css';
import '@mantine/core/styles/CheckboxIndicator.css';
import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { downloadText } from '../../parts/download.ts';
import { WarningIcon } from '../../parts/icons.tsx';

export function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  codes: string[] | null;
  onClose: () => void;
}) {
  const [saved, setSaved] = useState(false);
  const close = () => {
    setSaved(false);
    onClose();
  };
  const text = `Recovery codes for Sandmartin (${location.host}), each valid once:\n\n${codes?.join('\n')}\n`;
  return (
    <Dialog
      opened={codes !== null}
      onClose={() => saved && close()}
      closeOnClickOutside={false}
      closeOnEscape={saved}
      withCloseButton={saved}
      title="Save your recovery codes"
    >
      <Stack>
        <Alert color="yellow" icon={<WarningIcon />}>
          Each code signs you in once if you lose your phone or passkey. They are not shown again,
          and earlier codes no longer work.
        </Alert>
        <div className="columns columns-2 columns-close" data-testid="recovery-codes">
          {codes?.map((code) => (
            <code key={code}>{code}</code>
          ))}
        </div>
        <Group gap="xs">
          <Button
            variant="default"
            onClick={() => downloadText('sandmartin-recovery-codes.txt', text)}
          >
            Download
          </Button>
          <Copy value={codes?.join('\n') ?? ''} label="Copy the codes" />
        </Group>
        <Checkbox
          label="I have saved them"
          checked={saved}
          onChange={(event) => setSaved(event.currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Button disabled={!saved} onClick={close}>
            Done
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
