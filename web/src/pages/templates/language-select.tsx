// In which of its languages a template is shown. There only where it has more than one.
import { NativeSelect } from '@mantine/core';
import type { TemplateVersion } from '../../../../src/client/operations.ts';

const names = new Intl.DisplayNames('en', { type: 'language' });

interface LanguageProps {
  messages: TemplateVersion['messages'];
  value: string | undefined;
  onChange: (locale: string | undefined) => void;
}

export function LanguageSelect({ messages, value, onChange }: LanguageProps) {
  const locales = Object.keys(messages);
  if (locales.length < 2) return null;
  return (
    <NativeSelect
      aria-label="Language"
      size="xs"
      mb="xs"
      w={200}
      data={[
        { value: '', label: 'Default language' },
        ...locales
          .map((locale) => ({ value: locale, label: names.of(locale) ?? locale }))
          .sort((one, other) => one.label.localeCompare(other.label)),
      ]}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}
