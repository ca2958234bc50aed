// The language in which a template, or the catalogue, is shown. Only rendered if there is more than
// one.
import { NativeSelect } from '@mantine/core';

const names = new Intl.DisplayNames('en', { type: 'language' });

interface LanguageProps {
  locales: readonly string[];
  value: string | undefined;
  onChange: (locale: string | undefined) => void;
  mb?: 'xs';
}

export function LanguageSelect({ locales, value, onChange, mb }: LanguageProps) {
  if (locales.length < 2) return null;
  return (
    <NativeSelect
      aria-label="Language"
      size="xs"
      {...(mb && { mb })}
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
