// Branding: the values that every template gets, with emails that change as you edit.
import {
  Alert,
  Button,
  Group,
  Paper,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { SandmartinError } from '../../../../src/client/calls.ts';
import type { Branding as BrandingView } from '../../../../src/client/operations.ts';
import { useDraftKeeper, useLeaveGuard } from '../../kept-draft.ts';
import { api, useRead } from '../../operations.ts';
import { useDrawn } from '../../parts/drawn.ts';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { AfterPaint } from '../../parts/later.tsx';
import { Page } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { ColorField } from './color-field.tsx';
import { changeOf, defaultsOf, type Form, formOf, isSameForm, type TextField } from './form.ts';
import { LogoField } from './logo-field.tsx';
import { LookFields } from './look-fields.tsx';
import { SaveBrandingDialog } from './save-dialog.tsx';

export function BrandingPage() {
  const branding = useRead('branding.get', {});
  return (
    <PageOf asked={branding} title="Branding" height={640} wide>
      {(view) => <BrandingForm view={view} />}
    </PageOf>
  );
}

const fields: {
  name: TextField;
  label: string;
  description: string;
  type?: string;
}[] = [
  { name: 'brand_name', label: 'Brand name', description: 'In the header and the footer' },
  {
    name: 'logo_dark_url',
    label: 'Logo for dark mode',
    description: 'Without it, the logo is shown on a white plate',
    type: 'url',
  },
  { name: 'support_email', label: 'Support email', description: 'In the footer', type: 'email' },
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
  const work = useBrandingDraft(view);
  const { form, setForm, changed } = work;
  const [slugs, setSlugs] = useState(['welcome', 'order-confirmation', 'password-reset']);
  const [confirming, confirm] = useDisclosure();
  const set = (name: keyof Form, value: string | number | boolean) =>
    setForm((before) => ({ ...before, [name]: value }));
  const { last: shown, fault } = useDrawn(
    'branding.preview',
    { branding: changeOf(form), slugs },
    api.branding.preview,
  );
  const faults = fieldFaults(fault);
  const contrasts = shown?.contrasts ?? view.contrasts;
  return (
    <Page
      wide
      title="Branding"
      lead="Used by every template: the system's and your own."
      actions={
        may && (
          <>
            <Button variant="subtle" color="gray" onClick={() => setForm(defaultsOf(view))}>
              Defaults
            </Button>
            <Button disabled={!changed || fault !== null} onClick={confirm.open}>
              Save…
            </Button>
          </>
        )
      }
    >
      {work.restored && (
        <Alert mb="md" color="martin" role="status">
          <Group justify="space-between">
            <Text size="sm">
              These are your unsaved changes from <Time at={work.restored} />.
            </Text>
            <Button size="compact-xs" variant="default" onClick={work.discard}>
              Discard them
            </Button>
          </Group>
        </Alert>
      )}
      {confirming && (
        <SaveBrandingDialog
          {...{ form, slugs }}
          base={work.base}
          onMerged={work.merge}
          onClose={confirm.close}
        />
      )}
      <div className="branding">
        <Paper p="lg" component="fieldset" disabled={!may} className="branding-form">
          <Stack>
            {fault && Object.keys(faults).length === 0 && (
              <Alert color="red" role="alert">
                {fault.message}
              </Alert>
            )}
            <LookFields form={form} set={set} faults={faults} disabled={!may} />
            <ColorField
              label="Primary colour"
              description="Buttons and accents"
              value={form.primary_color}
              fallback={view.defaults.primary_color}
              onChange={(value) => set('primary_color', value)}
              fault={faults.primary_color}
              contrast={contrasts.find(({ field }) => field === 'primary_color')}
              disabled={!may}
            />
            <ColorField
              label="Accent colour"
              description="Second accent"
              value={form.accent_color}
              fallback={view.defaults.accent_color}
              onChange={(value) => set('accent_color', value)}
              fault={faults.accent_color}
              contrast={contrasts.find(({ field }) => field === 'accent_color')}
              disabled={!may}
            />
            <div>
              <Text size="sm" fw={600}>
                Button corners
              </Text>
              <Text size="xs" c="dimmed" mb={6}>
                {form.button_radius} pixels, 0 to 24
              </Text>
              <input
                type="range"
                className="range"
                min={0}
                max={24}
                value={form.button_radius}
                onChange={(event) => set('button_radius', event.currentTarget.valueAsNumber)}
                aria-label="Button corners in pixels"
                disabled={!may}
              />
            </div>
            <LogoField
              url={form.logo_url}
              onUploaded={work.uploaded}
              onUrl={(url) => set('logo_url', url)}
              inline={form.logo_inline}
              onInline={(inline) => set('logo_inline', inline)}
              fault={faults.logo_url}
              disabled={!may}
            />
            <AfterPaint meanwhile={<div className="below-logo" />}>
              {fields.map(({ name, label, description, type }) => (
                <TextInput
                  key={name}
                  label={label}
                  description={description}
                  type={type ?? 'text'}
                  placeholder={name === 'brand_name' ? view.defaults.brand_name : undefined}
                  value={form[name]}
                  error={faults[name]}
                  onChange={(event) => set(name, event.currentTarget.value)}
                  disabled={!may}
                />
              ))}
              <Textarea
                label="Footer"
                description="HTML, such as a postal address"
                className="json-field"
                value={form.footer_html}
                error={faults.footer_html}
                onChange={(event) => set('footer_html', event.currentTarget.value)}
                disabled={!may}
              />
            </AfterPaint>
          </Stack>
        </Paper>
        <AfterPaint meanwhile={<div className="branding-previews" />}>
          <BrandingPreviews slugs={slugs} onSlugs={setSlugs} previews={shown?.previews ?? []} />
        </AfterPaint>
      </div>
    </Page>
  );
}

/** What is in the form: starts from the branding in use, or from what this browser kept of it. */
function useBrandingDraft(view: BrandingView) {
  const keeper = useDraftKeeper<{ form: Form; from: Form }>('branding');
  const inForce = formOf(view.branding);
  const isSame = (form: Form) => isSameForm(form, inForce);
  const [begun] = useState(() => {
    const kept = keeper.find();
    return kept && !isSame(kept.draft.form) ? kept : undefined;
  });
  const [form, setForm] = useState(begun?.draft.form ?? inForce);
  /** What the edit started from. */
  const [base, setBase] = useState({
    version: begun?.base ?? view.version,
    form: begun?.draft.from ?? inForce,
  });
  const [restored, setRestored] = useState(begun?.at);
  const begin = () => {
    setForm(inForce);
    setBase({ version: view.version, form: inForce });
    setRestored(undefined);
  };
  // Saved, here or elsewhere: taken over unless someone is in the middle of an edit.
  const isUntouched = isSameForm(form, base.form);
  if (view.version > base.version && (isUntouched || isSame(form))) begin();
  const changed = !isSame(form);
  useEffect(() => {
    if (changed) keeper.keep({ form, from: base.form }, base.version);
    else keeper.forget();
  }, [keeper, form, base, changed]);
  useLeaveGuard(changed);
  return {
    form,
    setForm,
    changed,
    base,
    restored,
    merge: (merged: Form, theirs: BrandingView) => {
      setForm(merged);
      setBase({ version: theirs.version, form: formOf(theirs.branding) });
    },
    // An upload creates a version; what was edited in the meantime stays.
    uploaded: ({ version, branding: { logo_url = '' } }: BrandingView) => {
      setForm((before) => ({ ...before, logo_url }));
      setBase(({ form }) => ({ version, form: { ...form, logo_url } }));
    },
    discard: begin,
  };
}

/** What is wrong with which field, as a sentence without the field's name. */
function fieldFaults(refusal: Error | null): Partial<Record<string, string>> {
  if (!(refusal instanceof SandmartinError)) return {};
  return Object.fromEntries(
    refusal.faults.map(({ path, message }) => {
      const name = path.replace(/^branding\./, '');
      return [name, message.replace(new RegExp(`^(?:branding\\.)?${name}:? *`), '')];
    }),
  );
}

interface PreviewsProps {
  slugs: string[];
  onSlugs: (slugs: string[]) => void;
  previews: { slug: string; email: { html: string } | null }[];
}

function BrandingPreviews({ slugs, onSlugs, previews }: PreviewsProps) {
  const templates = useRead('templates.list', {});
  const choices = (templates.data?.data ?? []).map(({ slug, name }) => ({
    value: slug,
    label: name,
  }));
  return (
    <div className="branding-previews">
      {/* In a row of their own: the emails below have any height. */}
      <div className="columns columns-xs-3 columns-close preview-choices">
        {slugs.map((slug, place) => (
          <Select
            // biome-ignore lint/suspicious/noArrayIndexKey: three places, whatever stands in them
            key={place}
            size="xs"
            aria-label={`Template in preview ${place + 1}`}
            searchable
            data={choices.length > 0 ? choices : [{ value: slug, label: slug }]}
            value={slug}
            onChange={(next) =>
              next && onSlugs(slugs.map((one, index) => (index === place ? next : one)))
            }
          />
        ))}
      </div>
      <div className="columns columns-lg-2 columns-xl-3 columns-apart">
        {slugs.map((slug, place) => {
          const found = previews.find((preview) => preview.slug === slug);
          return (
            <EmailPreview
              // biome-ignore lint/suspicious/noArrayIndexKey: three places, whatever stands in them
              key={place}
              plain
              email={found?.email ?? undefined}
              fault={found?.email === null ? 'It cannot be shown with its sample.' : undefined}
              title={`${slug} in your branding`}
            />
          );
        })}
      </div>
    </div>
  );
}
