// The logo: an image that is uploaded here, or the address of one; and whether every email carries
// it. Uploading saves at once, because an address has to lead somewhere before it is used.
import { Button, FileButton, Group, Switch, Text, TextInput } from '@mantine/core';
import type { Branding } from '../../../../src/client/operations.ts';
import { logoNameIn, MOST_LOGO_BYTES } from '../../../../src/templates/logo-names.ts';
import { useChange } from '../../operations.ts';
import { ActionFault } from '../../parts/fault.tsx';
import { UploadIcon } from '../../parts/icons.tsx';
import { tellDone } from '../../parts/results.ts';

export const isUploaded = (url: string): boolean => logoNameIn(url) !== undefined;

interface LogoFieldProps {
  url: string;
  onUploaded: (branding: Branding) => void;
  onUrl: (url: string) => void;
  inline: boolean;
  onInline: (inline: boolean) => void;
  /** What is wrong with the address. */
  fault: string | undefined;
  disabled: boolean;
}

export function LogoField(props: LogoFieldProps) {
  const { url, onUploaded, onUrl, inline, onInline, fault, disabled } = props;
  const upload = useChange('branding.setLogo', {
    changes: ['branding.get', 'templates.render', 'templates.renderSeveral', 'branding.preview'],
    onDone: (branding) => {
      onUploaded(branding);
      tellDone('Uploaded. New emails show this logo.');
    },
  });
  return (
    <div>
      <TextInput
        label="Logo"
        description="Upload an image or enter its https URL. Leave it empty for text only"
        type="url"
        value={url}
        error={fault}
        onChange={(event) => onUrl(event.currentTarget.value)}
        disabled={disabled}
      />
      <Group mt={8} gap="sm">
        <FileButton
          accept="image/png,image/jpeg,image/gif,image/webp"
          onChange={async (file) => file && upload.mutate({ content_base64: await base64Of(file) })}
          disabled={disabled}
          inputProps={{ 'aria-label': 'Logo file' }}
        >
          {(props) => (
            <Button
              {...props}
              size="xs"
              variant="default"
              leftSection={<UploadIcon size={14} />}
              loading={upload.isPending}
              disabled={disabled}
            >
              Upload an image
            </Button>
          )}
        </FileButton>
        <Text size="xs" c="dimmed">
          PNG, JPEG, GIF or WebP, at most {MOST_LOGO_BYTES / 1024} KB
        </Text>
      </Group>
      <ActionFault fault={upload.error} mt={8} />
      <Switch
        mt="sm"
        label="Every email carries the logo"
        description={
          isUploaded(url)
            ? 'It shows even where images are blocked, but makes each email larger'
            : 'Only for a logo uploaded here'
        }
        checked={inline && isUploaded(url)}
        onChange={(event) => onInline(event.currentTarget.checked)}
        disabled={disabled || !isUploaded(url)}
      />
    </div>
  );
}

/** As a data URL; the content is the part after the comma. */
function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}
