// Templates: a gallery by category, each as it looks with its sample and the account's branding.
import '@mantine/core/styles/Chip.css';
import { Badge, Box, Button, Chip, Group, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { OwnTemplate, TemplatePreview } from '../../../../src/client/operations.ts';
import { type Category, categories } from '../../../../src/templates/categories.ts';
import { api, type Output, useRead } from '../../operations.ts';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmailFrame } from '../../parts/email-frame.tsx';
import { PlusIcon, TemplatesIcon } from '../../parts/icons.tsx';
import { List, SearchBox } from '../../parts/list.tsx';
import { LOADING, Page } from '../../parts/page.tsx';
import { capital } from '../../parts/status.tsx';
import { useSearchText } from '../../parts/typed.ts';
import type { TemplatesShown as Shown } from '../../router.tsx';
import { useMay } from '../../session.ts';
import { NewTemplateDialog } from './new-template.tsx';

type Row = Pick<OwnTemplate, 'slug' | 'name' | 'category' | 'description' | 'state'>;

export function TemplatesPage() {
  const may = useMay('developer');
  const offered = useRead('templates.list', {});
  const own = useRead('templates.listOwn', {});
  const { show: shown = 'all' } = useSearch({ from: '/inside/templates' });
  const navigate = useNavigate({ from: '/templates' });
  const setShown = (show: Shown) =>
    void navigate({
      search: ({ q }) => ({ ...(q && { q }), ...(show !== 'all' && { show }) }),
      replace: true,
    });
  const asked = useSearchText();
  const [creating, dialog] = useDialogInAddress('template', may);
  const all = offered.data && own.data ? rowsOf(offered.data, own.data) : [];
  const hits = all.filter((row) => fits(row, shown, asked.search));
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
          categories.map((category) => (
            <CategoryOf
              key={category}
              category={category}
              rows={rows.filter((row) => row.category === category)}
            />
          ))
        }
      </List>
      <NewTemplateDialog opened={creating} onClose={dialog.close} />
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

function CategoryOf({ category, rows }: { category: Category; rows: Row[] }) {
  if (rows.length === 0) return null;
  return (
    <Box component="section" mb={40}>
      <Title order={2} mb="md">
        {capital(category)}
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
        {rows.map((row) => (
          <Card key={row.slug} row={row} />
        ))}
      </SimpleGrid>
    </Box>
  );
}

/**
 * What can be sent, and the account's own whether they can or not: they take the system's place.
 */
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

function Card({ row }: { row: Row }) {
  const { ref, entry } = useIntersection({ rootMargin: '300px' });
  const [seen, setSeen] = useState(false);
  if (!seen && entry?.isIntersecting) setSeen(true);
  return (
    <Link
      to="/templates/$slug"
      params={{ slug: row.slug }}
      className="row-card template-card"
      ref={ref}
    >
      <div className="thumbnail" aria-hidden="true">
        {seen ? <Thumbnail slug={row.slug} /> : <Skeleton height="100%" radius={0} />}
      </div>
      <Box p="md">
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text size="sm" fw={600} truncate>
            {row.name}
          </Text>
          <TemplateBadge row={row} />
        </Group>
        <Text size="xs" c="dimmed" lineClamp={2} mt={2}>
          {row.description}
        </Text>
      </Box>
    </Link>
  );
}

export function TemplateBadge({ row }: { row: Pick<Row, 'state'> }) {
  if (row.state === 'system') return null;
  if (row.state === 'published') return <Badge color="martin">Yours</Badge>;
  return <Badge color={row.state === 'draft' ? 'yellow' : 'gray'}>{capital(row.state)}</Badge>;
}

function Thumbnail({ slug }: { slug: string }) {
  const preview = useQuery({
    queryKey: ['templates.renderSeveral', slug],
    queryFn: () => previewSoon(slug),
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

/** Cards that come into sight together are asked for together. */
let waiting: { slug: string; settle: (preview: Promise<TemplatePreview>) => void }[] = [];

function previewSoon(slug: string): Promise<TemplatePreview> {
  return new Promise((settle) => {
    if (waiting.length === 0) setTimeout(askForWaiting, 20);
    waiting.push({ slug, settle });
  });
}

function askForWaiting(): void {
  const asked = waiting;
  waiting = [];
  const answer = api.templates.renderSeveral({ slugs: asked.map(({ slug }) => slug) });
  const previews = Promise.resolve(answer).then(({ data }) => data);
  for (const { slug, settle } of asked) {
    settle(previews.then((found) => found.find((preview) => preview.slug === slug)!));
  }
}

function LoadingCards() {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg" {...LOADING}>
      {['a', 'b', 'c', 'd', 'e', 'f'].map((card) => (
        <Skeleton key={card} height={292} radius="lg" />
      ))}
    </SimpleGrid>
  );
}
