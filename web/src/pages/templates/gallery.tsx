// Templates: a gallery by category, each as it looks with its sample and the account's branding.
import '@mantine/core/styles/Chip.css';
import { Badge, Box, Button, Chip, Group, Skeleton, Title } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { OwnTemplate, TemplatePreview } from '../../../../src/client/operations.ts';
import { type Category, categories } from '../../../../src/templates/categories.ts';
import { LANGUAGES } from '../../../../src/templates/languages.ts';
import { inTurn } from '../../idle.ts';
import { api, type Output, useRead } from '../../operations.ts';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmailFrame } from '../../parts/email-frame.tsx';
import { PlusIcon, TemplatesIcon } from '../../parts/icons.tsx';
import { OnceOpened, usePainted } from '../../parts/later.tsx';
import { List, SearchBox } from '../../parts/list.tsx';
import { LOADING, Page } from '../../parts/page.tsx';
import { capital } from '../../parts/status.tsx';
import { useSearchText } from '../../parts/typed.ts';
import type { TemplatesShown as Shown } from '../../router.tsx';
import { useMay } from '../../session.ts';
import { LanguageSelect } from './language-select.tsx';
import { NewTemplateDialog } from './new-template.tsx';

type Row = Pick<OwnTemplate, 'slug' | 'name' | 'category' | 'description' | 'state'>;

export function TemplatesPage() {
  const may = useMay('developer');
  const offered = useRead('templates.list', {});
  const own = useRead('templates.listOwn', {});
  const { show: shown = 'all', locale } = useSearch({ from: '/inside/templates' });
  const navigate = useNavigate({ from: '/templates' });
  const change = (to: { show?: Shown | undefined; locale?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...to }), replace: true });
  const setShown = (show: Shown) => change({ show: show === 'all' ? undefined : show });
  const asked = useSearchText();
  const [creating, dialog] = useDialogInAddress('template', may);
  const all = offered.data && own.data ? rowsOf(offered.data, own.data) : [];
  const hits = all.filter((row) => fits(row, shown, asked.search));
  const isPainted = usePainted();
  return (
    <Page
      title="Templates"
      lead="Ready-made emails in your branding. Clone one to make it yours."
      actions={
        may && (
          <Button variant="default" leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
            New template
          </Button>
        )
      }
    >
      <Group mb="xl" gap="md">
        <SearchBox label="Search templates" placeholder="Search" {...asked} />
        <LanguageSelect
          locales={LANGUAGES}
          value={locale}
          onChange={(locale) => change({ locale })}
        />
        <Chip.Group value={shown} onChange={(value) => setShown(value as Shown)}>
          <Group gap={6} role="group" aria-label="Category">
            {(['all', 'own', ...categories] as Shown[]).map((value) => (
              <Chip key={value} value={value} size="xs" icon={null}>
                {value === 'own' ? 'Yours' : capital(value)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Group>
      <List
        asked={[offered, own]}
        rows={hits}
        loading={<LoadingCards />}
        empty={shown === 'own' ? noneOwn : noHit}
      >
        {(rows) =>
          byCategory(rows).map(([category, rows], place) => (
            <CategoryOf
              key={category}
              {...{ category, rows, locale }}
              blank={place >= FIRST_IN_SIGHT && !isPainted}
            />
          ))
        }
      </List>
      <OnceOpened opened={creating}>
        <NewTemplateDialog opened={creating} onClose={dialog.close} />
      </OnceOpened>
    </Page>
  );
}

const noneOwn = {
  icon: <TemplatesIcon />,
  title: 'No templates of your own yet',
  children: 'Open a template and clone it.',
};
const noHit = {
  icon: <TemplatesIcon />,
  title: 'Nothing matches',
  children: 'Try another word or category.',
};

/** So many categories fill a screen; the others are drawn once these are visible. */
const FIRST_IN_SIGHT = 2;

const byCategory = (rows: readonly Row[]): [Category, Row[]][] =>
  categories
    .map((one): [Category, Row[]] => [one, rows.filter(({ category }) => category === one)])
    .filter(([, rows]) => rows.length > 0);

interface CategoryProps {
  category: Category;
  rows: Row[];
  locale: string | undefined;
  /** As high as it will be, with nothing in it. */
  blank: boolean;
}

function CategoryOf({ category, rows, locale, blank }: CategoryProps) {
  return (
    <Box component="section" mb={40}>
      <Title order={2} mb="md">
        {capital(category)}
      </Title>
      <div className="columns columns-xs-2 columns-md-3 columns-apart">
        {rows.map((row) =>
          blank ? (
            <div key={row.slug} className="template-card blank-card" />
          ) : (
            <Card key={row.slug} {...{ row, locale }} />
          ),
        )}
      </div>
    </Box>
  );
}

/** What can be sent, and the account's own templates in any state: they replace the system's. */
function rowsOf(offered: Output<'templates.list'>, own: Output<'templates.listOwn'>): Row[] {
  const rows = new Map<string, Row>();
  for (const template of offered.data) rows.set(template.slug, { ...template, state: 'system' });
  for (const template of own.data) rows.set(template.slug, template);
  return [...rows.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
}

function fits(row: Row, shown: Shown, search: string): boolean {
  if (shown === 'own' && row.state === 'system') return false;
  if (shown !== 'all' && shown !== 'own' && row.category !== shown) return false;
  const text = `${row.name} ${row.slug} ${row.description}`.toLowerCase();
  return text.includes(search.trim().toLowerCase());
}

function Card({ row, locale }: { row: Row; locale: string | undefined }) {
  const { ref, entry } = useIntersection({ rootMargin: '100px' });
  const [seen, setSeen] = useState(false);
  const comesInSight = !seen && entry?.isIntersecting === true;
  // Each thumbnail is a document, and nobody waits for the twelfth.
  useEffect(() => (comesInSight ? inTurn(() => setSeen(true)) : undefined), [comesInSight]);
  return (
    <Link
      to="/templates/$slug"
      params={{ slug: row.slug }}
      className="row-card template-card"
      ref={ref}
    >
      <div className="thumbnail" aria-hidden="true">
        {seen && <Thumbnail slug={row.slug} locale={locale} />}
      </div>
      <div className="template-words">
        <div className="template-name">
          <b>{row.name}</b>
          <TemplateBadge row={row} />
        </div>
        <p>{row.description}</p>
      </div>
    </Link>
  );
}

export function TemplateBadge({ row }: { row: Pick<Row, 'state'> }) {
  if (row.state === 'system') return null;
  if (row.state === 'published') return <Badge color="martin">Yours</Badge>;
  return <Badge color={row.state === 'draft' ? 'yellow' : 'gray'}>{capital(row.state)}</Badge>;
}

function Thumbnail({ slug, locale }: { slug: string; locale: string | undefined }) {
  const preview = useQuery({
    queryKey: ['templates.renderSeveral', slug, locale ?? null],
    queryFn: () => previewSoon(slug, locale),
    // In another language, it replaces the previous one when it is loaded.
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  if (preview.isPending) return <Skeleton height="100%" radius={0} />;
  const html = preview.data?.email?.html;
  if (html === undefined) return <div className="thumbnail-fault">No preview</div>;
  return (
    <div className="thumbnail-mail">
      <EmailFrame html={html} title={`Preview of ${slug}`} height={900} inert />
    </div>
  );
}

type Settle = (preview: Promise<TemplatePreview>) => void;

/** Cards that come into view together are requested together. By language, then by slug. */
const waiting = new Map<string | undefined, Map<string, Settle>>();

function previewSoon(slug: string, locale: string | undefined): Promise<TemplatePreview> {
  return new Promise((settle) => {
    const together = waiting.get(locale) ?? new Map<string, Settle>();
    if (together.size === 0) setTimeout(askForWaiting, 20, locale);
    waiting.set(locale, together.set(slug, settle));
  });
}

function askForWaiting(locale: string | undefined): void {
  const asked = waiting.get(locale)!;
  waiting.delete(locale);
  const answer = api.templates.renderSeveral({ slugs: [...asked.keys()], locale });
  const previews = Promise.resolve(answer).then(({ data }) => data);
  for (const [slug, settle] of asked) {
    settle(previews.then((found) => found.find((preview) => preview.slug === slug)!));
  }
}

function LoadingCards() {
  return (
    <div className="columns columns-xs-2 columns-md-3 columns-apart" {...LOADING}>
      {['a', 'b', 'c', 'd', 'e', 'f'].map((card) => (
        <Skeleton key={card} height={292} radius="lg" />
      ))}
    </div>
  );
}
