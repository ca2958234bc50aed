// The template editor: source at the left, the mail at the right as one types, faults where they are.
import {
  Alert,
  Badge,
  Button,
  Group,
  Select,
  Skeleton,
  Stack,
  Switch,
  Tabs,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useBlocker, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type {
  Category,
  TemplateDetail,
  TemplateFault,
  TemplateSource,
} from '../../../../src/dashboard/views/templates.ts';
import { call, Refused, useAction, useApi } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, SendIcon } from '../../parts/icons.tsx';
import { MailPreview } from '../../parts/mail-frame.tsx';
import { Page } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { useMay } from '../../session.ts';
import { FaultList } from './fault-list.tsx';
import { categories } from './gallery.tsx';
import type { EditorHandle } from './source-editor.tsx';
import { TestSendDialog } from './test-send.tsx';
import { JsonField, type Values, VariableForm } from './variable-form.tsx';

const SourceEditor = lazy(async () => ({
  default: (await import('./source-editor.tsx')).SourceEditor,
}));

type Draft = TemplateSource & { name: string; category: Category; description: string };

export function EditorPage() {
  const { slug } = useParams({ from: '/inside/templates/$slug/edit' });
  const listed = useApi('getTemplate', { params: { slug } });
  // What is edited is the newest version, whether it is in use or not.
  const newest = listed.data?.newestVersion ?? null;
  const template = useQuery({
    queryKey: ['getTemplate', { params: { slug }, query: { version: String(newest) } }],
    queryFn: () => call('getTemplate', { params: { slug }, query: { version: String(newest) } }),
    enabled: newest !== null,
    // A version that was just saved must not shut the editor it was saved in.
    placeholderData: (before) => (before?.slug === slug ? before : undefined),
  });
  const back = (
    <Link to="/templates/$slug" params={{ slug }} className="back-link">
      <BackIcon size={15} /> {listed.data?.name ?? slug}
    </Link>
  );
  const fault = listed.error ?? template.error;
  if (fault || (listed.data && newest === null)) {
    return (
      <Page title="Edit" back={back}>
        <Fault
          fault={
            fault ?? new Error('System templates stay as they are. Clone it, then edit the copy.')
          }
        />
      </Page>
    );
  }
  if (!template.data) {
    return (
      <Page title="Edit" back={back} wide>
        <Skeleton height={620} />
      </Page>
    );
  }
  return <Editor key={slug} template={template.data} back={back} />;
}

const draftOf = ({ name, category, description, content }: TemplateDetail): Draft => ({
  name,
  category,
  description,
  ...content,
});

function Editor({ template, back }: { template: TemplateDetail; back: React.ReactNode }) {
  const { slug } = template;
  const may = useMay('developer');
  const confirm = useConfirm();
  const [draft, setDraft] = useState(() => draftOf(template));
  const [saved, setSaved] = useState(draft);
  const [values, setValues] = useState<Values>(template.content.sample);
  const [tab, setTab] = useState<string | null>('html');
  const [testing, test] = useDisclosure();
  const handle = useRef<EditorHandle>(null);
  const dirty = JSON.stringify(draft) !== JSON.stringify(saved);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));

  const { name: _name, category: _category, description: _description, ...source } = draft;
  const [previewed] = useDebouncedValue({ draft: source, variables: values }, 250);
  const preview = useQuery({
    queryKey: ['previewTemplate', slug, previewed],
    queryFn: () => call('previewTemplate', { body: { slug, ...previewed } }),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
  const actions = useVersionActions(slug, draft, () => setSaved(draft));
  // Saved and refused: the same faults that the preview shows, unless only saving finds them.
  const refused = actions.fault instanceof Refused ? actions.fault.templateFaults : [];
  const faults = preview.data?.faults.length ? preview.data.faults : dirty ? [] : refused;

  // The last mail that could be rendered stays while there is a fault.
  const [mail, setMail] = useState(preview.data?.mail);
  useEffect(() => {
    if (preview.data?.mail) setMail(preview.data.mail);
  }, [preview.data]);
  useBlocker({
    shouldBlockFn: async () =>
      dirty &&
      !(await confirm({
        title: 'Leave without saving?',
        body: 'What you changed since the last version is lost.',
        act: 'Leave',
      })),
    enableBeforeUnload: () => dirty,
  });

  const show = (fault: TemplateFault) => {
    setTab(fault.part === 'html' || fault.part === 'text' ? fault.part : tab);
    // The editor of another tab is there only after the next paint.
    setTimeout(() => handle.current?.go(fault), 50);
  };

  return (
    <Page
      wide
      title={draft.name}
      back={back}
      actions={
        <>
          <Text size="sm" c="dimmed" role="status">
            {dirty ? 'Unsaved changes' : `Version ${actions.version ?? template.version}`}
          </Text>
          <Button variant="default" leftSection={<SendIcon size={15} />} onClick={test.open}>
            Test send
          </Button>
          {may && (
            <>
              <Button
                variant="default"
                loading={actions.saving}
                disabled={!dirty}
                onClick={actions.save}
              >
                Save draft
              </Button>
              <Button
                loading={actions.publishing}
                disabled={faults.length > 0}
                onClick={() => actions.publish(dirty)}
              >
                Publish
              </Button>
            </>
          )}
        </>
      }
    >
      <div className="editor">
        <div>
          <TextInput
            label="Subject"
            mb="sm"
            value={draft.subject}
            error={faultOf(faults, 'subject')}
            onChange={(event) => change({ subject: event.currentTarget.value })}
          />
          <TextInput
            label="Preheader"
            description="The line that inboxes show after the subject"
            mb="md"
            value={draft.preheader}
            error={faultOf(faults, 'preheader')}
            onChange={(event) => change({ preheader: event.currentTarget.value })}
          />
          <Tabs value={tab} onChange={setTab} keepMounted={false}>
            <Tabs.List mb="sm">
              <Tabs.Tab value="html">HTML</Tabs.Tab>
              <Tabs.Tab value="text">Text</Tabs.Tab>
              <Tabs.Tab value="values">Values</Tabs.Tab>
              <Tabs.Tab value="variables">Schema</Tabs.Tab>
              <Tabs.Tab value="details">Details</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="html">
              <Suspense fallback={<Skeleton height={520} />}>
                <SourceEditor
                  label="HTML source"
                  handle={handle}
                  value={draft.html}
                  onChange={(html) => change({ html })}
                  faults={faults.filter(({ part }) => part === 'html')}
                />
              </Suspense>
            </Tabs.Panel>
            <Tabs.Panel value="text">
              <Switch
                mb="sm"
                label="Derive the text from the HTML"
                checked={draft.text === null}
                onChange={(event) =>
                  change({ text: event.currentTarget.checked ? null : (mail?.text ?? '') })
                }
              />
              {draft.text !== null && (
                <Suspense fallback={<Skeleton height={480} />}>
                  <SourceEditor
                    label="Text source"
                    handle={handle}
                    value={draft.text}
                    onChange={(text) => change({ text })}
                    faults={faults.filter(({ part }) => part === 'text')}
                  />
                </Suspense>
              )}
            </Tabs.Panel>
            <Tabs.Panel value="values">
              <Group justify="space-between" mb="md">
                <Text size="sm" c="dimmed">
                  What the preview and test sends are filled with.
                </Text>
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => {
                    change({ sample: values });
                    tellDone('The sample is these values, once you save');
                  }}
                >
                  Keep as the sample
                </Button>
              </Group>
              <VariableForm variables={draft.variables} values={values} onChange={setValues} />
            </Tabs.Panel>
            <Tabs.Panel value="variables">
              <JsonField
                label="Variables"
                description="A list of {name, required, type, description, example}"
                value={draft.variables}
                onChange={(variables) =>
                  change({ variables: (variables ?? []) as Draft['variables'] })
                }
              />
            </Tabs.Panel>
            <Tabs.Panel value="details">
              <Stack>
                <TextInput
                  label="Name"
                  value={draft.name}
                  onChange={(event) => change({ name: event.currentTarget.value })}
                />
                <Select
                  label="Category"
                  data={categories.map((value) => ({ value, label: capital(value) }))}
                  value={draft.category}
                  onChange={(value) => change({ category: value as Category })}
                />
                <Textarea
                  label="Description"
                  value={draft.description}
                  onChange={(event) => change({ description: event.currentTarget.value })}
                />
              </Stack>
            </Tabs.Panel>
          </Tabs>
        </div>
        <div>
          {faults.length > 0 && <FaultList faults={faults} onGo={show} />}
          {preview.isError && (
            <Alert color="red" mb="sm">
              {preview.error.message}
            </Alert>
          )}
          <Text size="sm" mb="sm" truncate>
            <Badge color="gray" mr={8}>
              Subject
            </Badge>
            {mail?.subject ?? ''}
          </Text>
          <MailPreview html={mail?.html} title="Live preview" minHeight={640} />
        </div>
      </div>
      <TestSendDialog
        slug={slug}
        request={{ draft: source, variables: values }}
        opened={testing}
        onClose={test.close}
      />
    </Page>
  );
}

const faultOf = (faults: TemplateFault[], part: TemplateFault['part']): string | undefined =>
  faults.find((fault) => fault.part === part)?.message;

/** Saving makes a new version; publishing puts the newest in use. */
function useVersionActions(slug: string, draft: Draft, onSaved: () => void) {
  const changes = [
    'listTemplates',
    'listTemplateVersions',
    'getTemplate',
    'previewTemplate',
    'previewTemplates',
  ] as const;
  const [version, setVersion] = useState<number>();
  const save = useAction('saveTemplate', { changes: ['listTemplates', 'listTemplateVersions'] });
  const publish = useAction('publishTemplate', { changes: [...changes] });
  const keep = async () => {
    const detail = await save.mutateAsync({ params: { slug }, body: draft });
    setVersion(detail.newestVersion ?? undefined);
    onSaved();
    return detail.newestVersion;
  };
  return {
    version,
    saving: save.isPending,
    publishing: publish.isPending,
    fault: save.error,
    save: () => void keep().then((made) => tellDone(`Saved as version ${made}`), tellFault),
    publish: (dirty: boolean) =>
      void (async () => {
        const made = dirty ? await keep() : undefined;
        const { publishedVersion } = await publish.mutateAsync({
          params: { slug },
          body: made ? { version: made } : {},
        });
        tellDone(`Version ${publishedVersion} is in use`);
      })().catch(tellFault),
  };
}
