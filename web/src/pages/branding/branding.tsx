// Branding: the ten values that every template gets, with the mails changing as one edits.
import {
  Alert,
  Button,
  ColorInput,
  Group,
  Paper,
  Select,
  SimpleGrid,
  Skeleton,
  Slider,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  BrandingContrast,
  Branding as BrandingView,
} from '../../../../src/client/operations.ts';
import { api, type Input, useChange, useRead } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { WarningIcon } from '../../parts/icons.tsx';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { Page } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { useMay } from '../../session.ts';

export function BrandingPage() {
  const branding = useRead('branding.get', {});
  if (branding.isError) {
    return (
      <Page title="Branding">
        <Fault fault={branding.error} retry={branding.refetch} />
      </Page>
    );
  }
  if (!branding.data) {
    return (
      <Page title="Branding" wide>
        <Skeleton height={640} />
      </Page>
    );
  }
  return <BrandingForm key={branding.data.version} view={branding.data} />;
}

type Branding = BrandingView['branding'];

/** As the form holds it: every text is a string. */
type Form = Record<TextField, string> & { button_radius: number };
type TextField = Exclude<keyof Branding, 'button_radius'>;

/** A new field does not compile until it stands here. */
const blank: Record<TextField, ''> = {
  brand_name: '',
  logo_url: '',
  primary_color: '',
  accent_color: '',
  support_email: '',
  support_url: '',
  footer_html: '',
  privacy_policy_url: '',
  terms_url: '',
};
const texts = Object.keys(blank) as TextField[];

const formOf = (fields: Branding): Form => ({
  ...(Object.fromEntries(texts.map((name) => [name, fields[name] ?? ''])) as Omit<
    Form,
    'button_radius'
  >),
  button_radius: fields.button_radius,
});

/** Empty takes a field back to its default. */
const changeOf = (form: Form): Input<'branding.preview'>['branding'] => ({
  ...Object.fromEntries(texts.map((name) => [name, form[name].trim() === '' ? null : form[name]])),
  button_radius: form.button_radius,
});

const fields: {
  name: TextField;
  label: string;
  description: string;
  type?: string;
}[] = [
  { name: 'brand_name', label: 'Brand name', description: 'Stands in the header and the footer' },
  {
    name: 'logo_url',
    label: 'Logo',
    description: 'An https address of an image; empty: text only',
    type: 'url',
  },
  { name: 'support_email', label: 'Support e-mail', description: 'In the footer', type: 'email' },
  { name: 'support_url', label: 'Support page', description: 'In the footer', type: 'url' },
  {
    name: 'privacy_policy_url',
    label: 'Privacy policy',
    description: 'A link in every footer',
    type: 'url',
  },
  { name: 'terms_url', label: 'Terms', description: 'A link in every footer', type: 'url' },
];

function BrandingForm({ view }: { view: BrandingView }) {
  const may = useMay('developer');
  const [form, setForm] = useState(() => formOf(view.branding));
  const [slugs, setSlugs] = useState(['welcome', 'order-confirmation', 'password-reset']);
  const set = (name: keyof Form, value: string | number) =>
    setForm((before) => ({ ...before, [name]: value }));
  const [asked] = useDebouncedValue({ branding: changeOf(form), slugs }, 250);
  const preview = useQuery({
    queryKey: ['branding.preview', asked],
    queryFn: () => api.branding.preview(asked),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
  const save = useChange('branding.set', {
    changes: ['branding.get', 'templates.render', 'templates.renderSeveral'],
    onDone: ({ version }) => tellDone(`Saved as version ${version}. New mails use it.`),
  });
  const contrasts = preview.data?.contrasts ?? view.contrasts;
  const changed =
    JSON.stringify(changeOf(form)) !== JSON.stringify(changeOf(formOf(view.branding)));
  return (
    <Page
      wide
      title="Branding"
      lead="Goes into every template: the system's and your own."
      actions={
        may && (
          <>
            <Button variant="subtle" color="gray" onClick={() => setForm(formOf(view.defaults))}>
              Defaults
            </Button>
            <Button
              disabled={!changed || preview.isError}
              loading={save.isPending}
              onClick={() => save.mutate({ ...changeOf(form), base_version: view.version })}
            >
              Save
            </Button>
          </>
        )
      }
    >
      <div className="branding">
        <Paper p="lg" component="fieldset" disabled={!may} className="branding-form">
          <Stack>
            {(save.error || preview.error) && (
              <Alert color="red" role="alert">
                {(save.error ?? preview.error)?.message}
              </Alert>
            )}
            <ColorField
              label="Primary colour"
              description="Buttons and accents"
              value={form.primary_color}
              fallback={view.defaults.primary_color}
              onChange={(value) => set('primary_color', value)}
              contrast={contrasts.find(({ field }) => field === 'primary_color')}
              disabled={!may}
            />
            <ColorField
              label="Accent colour"
              description="Second accent"
              value={form.accent_color}
              fallback={view.defaults.accent_color}
              onChange={(value) => set('accent_color', value)}
              contrast={contrasts.find(({ field }) => field === 'accent_color')}
              disabled={!may}
            />
            <div>
              <Text size="sm" fw={500} id="radius-label">
                Button corners
              </Text>
              <Text size="xs" c="dimmed" mb={6}>
                {form.button_radius} pixels, 0 to 24
              </Text>
              <Slider
                min={0}
                max={24}
                value={form.button_radius}
                onChange={(value) => set('button_radius', value)}
                thumbLabel="Button corners in pixels"
                disabled={!may}
                label={(value) => `${value} px`}
              />
            </div>
            {fields.map(({ name, label, description, type }) => (
              <TextInput
                key={name}
                label={label}
                description={description}
                type={type ?? 'text'}
                value={form[name]}
                onChange={(event) => set(name, event.currentTarget.value)}
                disabled={!may}
              />
            ))}
            <Textarea
              label="Footer"
              description="HTML, such as a postal address"
              className="json-field"
              value={form.footer_html}
              onChange={(event) => set('footer_html', event.currentTarget.value)}
              disabled={!may}
            />
          </Stack>
        </Paper>
        <BrandingPreviews
          slugs={slugs}
          onSlugs={setSlugs}
          previews={preview.data?.previews ?? []}
        />
      </div>
    </Page>
  );
}

interface ColorFieldProps {
  label: string;
  description: string;
  value: string;
  fallback: string;
  onChange: (value: string) => void;
  contrast: BrandingContrast | undefined;
  disabled: boolean;
}

const swatches = [
  '#00a071',
  '#2563eb',
  '#7c3aed',
  '#db2777',
  '#dc2626',
  '#ea580c',
  '#ca8a04',
  '#111827',
];

function ColorField({
  label,
  description,
  value,
  fallback,
  onChange,
  contrast,
  disabled,
}: ColorFieldProps) {
  return (
    <div>
      <ColorInput
        label={label}
        description={description}
        placeholder={fallback}
        format="hex"
        swatches={swatches}
        value={value}
        onChange={onChange}
        disabled={disabled}
        eyeDropperButtonProps={{ 'aria-label': `Pick the ${label.toLowerCase()} from the screen` }}
      />
      {contrast?.low && (
        <Group gap={8} mt={6} wrap="nowrap" align="flex-start" className="contrast" role="status">
          <WarningIcon size={15} />
          <Text size="xs">
            Hard to read on white ({contrast.ratio.toFixed(1)}, should be 4.5). Mails put{' '}
            <Chip color={contrast.text_color} /> text on it
            {contrast.link_color.toLowerCase() !== value.toLowerCase() && (
              <>
                {' '}
                and use <Chip color={contrast.link_color} /> for links
              </>
            )}
            .
          </Text>
        </Group>
      )}
    </div>
  );
}

function Chip({ color }: { color: string }) {
  return (
    <code className="colour-chip">
      <i style={{ background: color }} />
      {color}
    </code>
  );
}

interface PreviewsProps {
  slugs: string[];
  onSlugs: (slugs: string[]) => void;
  previews: { slug: string; mail: { html: string } | null }[];
}

function BrandingPreviews({ slugs, onSlugs, previews }: PreviewsProps) {
  const templates = useRead('templates.list', {});
  const choices = (templates.data?.data ?? []).map(({ slug, name }) => ({
    value: slug,
    label: name,
  }));
  return (
    <SimpleGrid cols={{ base: 1, lg: 2, xl: 3 }} spacing="lg">
      {slugs.map((slug, place) => {
        const html = previews.find((preview) => preview.slug === slug)?.mail?.html;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: three places, whatever stands in them
          <div key={place}>
            <Select
              size="xs"
              mb="xs"
              aria-label={`Template in preview ${place + 1}`}
              searchable
              data={choices.length > 0 ? choices : [{ value: slug, label: slug }]}
              value={slug}
              onChange={(next) =>
                next && onSlugs(slugs.map((one, index) => (index === place ? next : one)))
              }
            />
            <div className="branding-mail">
              {html === undefined ? (
                <Skeleton height="100%" radius={0} />
              ) : (
                <MailFrame html={html} title={`${slug} in your branding`} height="100%" />
              )}
            </div>
          </div>
        );
      })}
    </SimpleGrid>
  );
}
