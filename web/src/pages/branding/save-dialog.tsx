// Before a branding goes into every email: what changes, field by field, with the last emails that
// were really sent as they are and as they would be. If someone else has saved since, what each
// person changed.

import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { SandmartinError } from '../../../../src/client/calls.ts';
import type { Branding as BrandingView } from '../../../../src/client/operations.ts';
import { readNow, useChange, useRead } from '../../operations.ts';
import { Dialog, DialogFoot } from '../../parts/dialog.tsx';
import { TableBox } from '../../parts/page.tsx';
import { BesideEachOther, Rehearsal } from '../../parts/rehearsal.tsx';
import { tellDone } from '../../parts/results.ts';
import { Segments } from '../../parts/segments.tsx';
import { changeOf, type Form, formOf, isSameForm, LABELS, names } from './form.ts';

interface SaveProps {
  form: Form;
  /** What the edit started from. */
  base: { version: number; form: Form };
  slugs: string[];
  onMerged: (form: Form, theirs: BrandingView) => void;
  onClose: () => void;
}

export function SaveBrandingDialog({ form, base, slugs, onMerged, onClose }: SaveProps) {
  const queries = useQueryClient();
  const [theirs, setTheirs] = useState<BrandingView>();
  const save = useChange('branding.set', {
    changes: ['branding.get', 'templates.render', 'templates.renderSeveral'],
    onDone: ({ version }) => isSaved(version),
  });
  const isSaved = (version: number) => {
    tellDone(`Saved as version ${version}. New emails use it.`);
    onClose();
  };
  const send = () =>
    save.mutate(
      { ...changeOf(form), base_version: base.version },
      {
        onError: async (fault) => {
          if (!(fault instanceof SandmartinError && fault.code === 'stale')) return;
          const newest = await readNow(queries, 'branding.get', {});
          // Saved by a call of ours whose answer was lost?
          if (isSameForm(formOf(newest.branding), form)) isSaved(newest.version);
          else setTheirs(newest);
        },
      },
    );
  return (
    <Dialog
      opened
      onClose={onClose}
      size="min(1000px, 94vw)"
      title={theirs ? 'Someone else changed the branding' : 'Save this branding?'}
    >
      {theirs ? (
        <Merge {...{ form, theirs, onClose }} base={base.form} onMerged={onMerged} />
      ) : (
        <Stack className="tall-dialog">
          <Text size="sm">Every email sent from a template will use it from now on.</Text>
          <FieldTable
            rows={names
              .filter((name) => form[name] !== base.form[name])
              .map((name) => [LABELS[name], base.form[name], form[name]])}
          />
          <OnRealEmails form={form} slugs={slugs} />
          <DialogFoot fault={save.error}>
            <Button variant="default" onClick={onClose}>
              Not yet
            </Button>
            <Button loading={save.isPending} onClick={send}>
              Save
            </Button>
          </DialogFoot>
        </Stack>
      )}
    </Dialog>
  );
}

type Value = string | number | boolean;

const say = (value: Value): string => {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return value === '' ? '(not set)' : String(value);
};

function FieldTable({ rows }: { rows: [label: string, before: Value, after: Value][] }) {
  return (
    <TableBox label="What changes">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            <Table.Th>Now</Table.Th>
            <Table.Th>Then</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([label, before, after]) => (
            <Table.Tr key={label}>
              <Table.Th scope="row">{label}</Table.Th>
              <Table.Td data-label="Now" className="anywhere">
                {say(before)}
              </Table.Td>
              <Table.Td data-label="Then" className="anywhere">
                {say(after)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

function OnRealEmails({ form, slugs }: { form: Form; slugs: string[] }) {
  const branding = changeOf(form);
  const rehearsal = useRead('branding.rehearse', { branding }, { fresh: true });
  return (
    <Rehearsal
      asked={rehearsal}
      ofWhat="from a template"
      sample={<OnSamples form={form} slugs={slugs} />}
      beside={({ template, sm_mail_id }) => (
        <BeforeAndAfter form={form} email={{ slugs: [template], variables_of: sm_mail_id }} />
      )}
    />
  );
}

function OnSamples({ form, slugs }: { form: Form; slugs: string[] }) {
  const [slug, setSlug] = useState(slugs[0]!);
  return (
    <div>
      <Group mb="xs">
        <Segments
          label="Email"
          choices={[...new Set(slugs)].map((slug) => ({ value: slug, label: slug }))}
          value={slug}
          onChange={setSlug}
        />
      </Group>
      <BeforeAndAfter form={form} email={{ slugs: [slug] }} />
    </div>
  );
}

interface BeforeAndAfterProps {
  form: Form;
  email: { slugs: string[]; variables_of?: string };
}

function BeforeAndAfter({ form, email }: BeforeAndAfterProps) {
  const now = useRead('branding.preview', { branding: {}, ...email });
  const then = useRead('branding.preview', { branding: changeOf(form), ...email });
  const sideOf = (label: string, { data, error }: typeof now) => {
    const [shown] = data?.previews ?? [];
    return {
      label,
      email: shown?.email ?? undefined,
      fault: error?.message ?? shown?.faults[0]?.message,
    };
  };
  return (
    <BesideEachOther now={sideOf('In use now', now)} then={sideOf('With your changes', then)} />
  );
}

interface MergeProps {
  form: Form;
  base: Form;
  theirs: BrandingView;
  onMerged: SaveProps['onMerged'];
  onClose: () => void;
}

/** What only one person changed is taken; where both did, the person who saves decides. */
function Merge({ form, base, theirs, onMerged, onClose }: MergeProps) {
  const other = formOf(theirs.branding);
  const both = names.filter(
    (name) => form[name] !== base[name] && other[name] !== base[name] && form[name] !== other[name],
  );
  const [mine, setMine] = useState<Partial<Record<keyof Form, boolean>>>({});
  const merged = Object.fromEntries(
    names.map((name) => [
      name,
      form[name] === base[name] || (both.includes(name) && mine[name] === false)
        ? other[name]
        : form[name],
    ]),
  ) as Form;
  const changed = names.filter((name) => other[name] !== base[name]);
  return (
    <Stack>
      <Text size="sm">
        Version {theirs.version} was saved while you were editing. It changes{' '}
        {changed.map((name) => LABELS[name]).join(', ') || 'nothing visible'}.{' '}
        {both.length === 0
          ? 'You changed different things, so both changes can be kept.'
          : 'You both changed these. Choose which to keep.'}
      </Text>
      {both.map((name) => (
        <div key={name} className="merge-region" data-by="both">
          <Group justify="space-between" mb={6}>
            <Text size="sm" fw={600}>
              {LABELS[name]}
            </Text>
            <Segments
              label={`Which ${LABELS[name]} to keep`}
              value={mine[name] === false ? 'theirs' : 'mine'}
              onChange={(side) => setMine((before) => ({ ...before, [name]: side === 'mine' }))}
              choices={[
                { value: 'mine', label: 'Keep mine' },
                { value: 'theirs', label: 'Take theirs' },
              ]}
            />
          </Group>
          <div className="merge-columns">
            {(
              [
                ['Before', base[name]],
                ['Yours', form[name]],
                ['Theirs', other[name]],
              ] as [string, Value][]
            ).map(([label, value]) => (
              <div key={label}>
                <Text size="xs" c="dimmed">
                  {label}
                </Text>
                <pre>{say(value)}</pre>
              </div>
            ))}
          </div>
        </div>
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Keep editing, decide later
        </Button>
        <Button
          onClick={() => {
            onMerged(merged, theirs);
            onClose();
          }}
        >
          Merge into my changes
        </Button>
      </Group>
    </Stack>
  );
}
