// Someone saved a version during an edit: what each person changed, side by side, and a choice
// where both changed the same lines. Nothing is saved here: the merged draft goes back into the
// editor.

import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { TemplateVersion } from '../../../../src/client/operations.ts';
import { useRead } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Segments } from '../../parts/segments.tsx';
import type { Draft } from './draft.ts';
import { compareThree, compareWhole, mergedText, type Region, type Side } from './three-way.ts';

interface ConflictProps {
  slug: string;
  /** The version that the draft started from. */
  base: number;
  mine: Draft;
  onMerged: (draft: Draft, theirs: TemplateVersion) => void;
  onClose: () => void;
}

export function ConflictDialog({ slug, base, mine, onMerged, onClose }: ConflictProps) {
  const before = useRead('templates.getVersion', { slug, version: String(base) });
  const newest = useRead('templates.getVersion', { slug, version: 'newest' }, { fresh: true });
  const fault = before.error ?? newest.error;
  const isReady = before.data && newest.data && !newest.isFetching;
  return (
    <Dialog opened onClose={onClose} size="min(1100px, 94vw)" title="Someone else saved a version">
      {fault && <Fault fault={fault} />}
      {!fault && !isReady && <Skeleton height={420} />}
      {isReady && (
        <Merge base={before.data} theirs={newest.data} mine={mine} {...{ onMerged, onClose }} />
      )}
    </Dialog>
  );
}

const PARTS = [
  'name',
  'category',
  'description',
  'subject',
  'preheader',
  'html',
  'text',
  'variables',
  'sample',
  'messages',
] as const satisfies (keyof Draft)[];
type Part = (typeof PARTS)[number];

const LABELS: Record<Part, string> = {
  name: 'Name',
  category: 'Category',
  description: 'Description',
  subject: 'Subject',
  preheader: 'Preheader',
  html: 'HTML',
  text: 'Text',
  variables: 'Schema',
  sample: 'Sample',
  messages: 'Messages',
};

interface MergeProps {
  base: TemplateVersion;
  theirs: TemplateVersion;
  mine: Draft;
  onMerged: ConflictProps['onMerged'];
  onClose: () => void;
}

function Merge({ base, theirs, mine, onMerged, onClose }: MergeProps) {
  const parts = useMemo(
    () =>
      PARTS.map((part) => {
        const compare = isJson(part) ? compareWhole : compareThree;
        const [b, m, t] = [base[part], mine[part], theirs[part]].map(written);
        return { part, regions: compare(b!, m!, t!) };
      }).filter(({ regions }) => regions.some(({ changedBy }) => changedBy !== 'nobody')),
    [base, theirs, mine],
  );
  const [decided, setDecided] = useState<Partial<Record<Part, Side[]>>>({});
  const decide = (part: Part, place: number, side: Side) =>
    setDecided((before) => {
      const sides = [...(before[part] ?? [])];
      sides[place] = side;
      return { ...before, [part]: sides };
    });
  const merge = () => {
    const merged = Object.fromEntries(
      parts.map(({ part, regions }) => [part, readPart(part, mergedText(regions, decided[part]))]),
    );
    onMerged({ ...mine, ...merged }, theirs);
  };
  const isMineToo = parts.some(({ regions }) => regions.some((it) => isMine(it)));
  const both = parts.flatMap(({ regions }) => regions.filter((it) => it.changedBy === 'both'));
  return (
    <Stack>
      <Text size="sm">
        You started from version {base.version}; version {theirs.version} was saved since.{' '}
        {!isMineToo
          ? 'This is what it changes.'
          : both.length === 0
            ? 'The two changes do not overlap, so both can be kept.'
            : `Both of you changed the same lines in ${both.length === 1 ? 'one place' : `${both.length} places`}: choose which to keep.`}
      </Text>
      {parts.map(({ part, regions }) => (
        <section key={part} aria-label={LABELS[part]}>
          <Title order={3} size="sm" mb={6}>
            {LABELS[part]}
          </Title>
          <Stack gap="xs">
            {regions.map((region, place) =>
              region.changedBy === 'nobody' ? null : (
                <RegionBox
                  // biome-ignore lint/suspicious/noArrayIndexKey: regions have no other name
                  key={place}
                  region={region}
                  side={decided[part]?.[place] ?? 'mine'}
                  onSide={(side) => decide(part, place, side)}
                />
              ),
            )}
          </Stack>
        </section>
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Keep editing, decide later
        </Button>
        <Button onClick={merge}>
          {isMineToo ? 'Merge into my draft' : `Continue with version ${theirs.version}`}
        </Button>
      </Group>
    </Stack>
  );
}

const isMine = ({ changedBy }: Region): boolean => changedBy === 'me' || changedBy === 'both';

interface RegionProps {
  region: Region;
  side: Side;
  onSide: (side: Side) => void;
}

function RegionBox({ region, side, onSide }: RegionProps) {
  const { changedBy, base, mine, theirs } = region;
  return (
    <div className="merge-region" data-by={changedBy}>
      <Group justify="space-between" mb={6}>
        <Text size="xs" fw={600}>
          {changedBy === 'both' ? 'Both changed this' : changedBy === 'me' ? 'You' : 'They'}
        </Text>
        {changedBy === 'both' && (
          <Segments
            label="Which to keep"
            value={side}
            onChange={onSide}
            choices={[
              { value: 'mine', label: 'Keep mine' },
              { value: 'theirs', label: 'Take theirs' },
            ]}
          />
        )}
      </Group>
      <div className="merge-columns">
        <Lines label="Before" lines={base} />
        {changedBy !== 'them' && <Lines label="Yours" lines={mine} />}
        {changedBy !== 'me' && <Lines label="Theirs" lines={theirs} />}
      </div>
    </div>
  );
}

function Lines({ label, lines }: { label: string; lines: string[] }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <pre>{lines.length === 0 ? '(nothing)' : lines.join('\n')}</pre>
    </div>
  );
}

/** No text (it is derived from the HTML) is not the same as an empty one. */
const DERIVED = '(derived from the HTML)';

const written = (value: Draft[Part]): string =>
  typeof value === 'string' ? value : value === null ? DERIVED : JSON.stringify(value, null, 2);

function readPart(part: Part, text: string): unknown {
  if (part === 'text') return text === DERIVED ? null : text;
  return isJson(part) ? JSON.parse(text) : text;
}

const isJson = (part: Part): boolean => ['variables', 'sample', 'messages'].includes(part);
