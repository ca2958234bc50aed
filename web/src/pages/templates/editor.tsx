// The template editor: source at the left, the mail at the right as one types, faults where they
// are.
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
import type { Fault as SourceFault } from '../../../../src/client/calls.ts';
import type { TemplateVersion } from '../../../../src/client/operations.ts';
import { type Category, categories } from '../../../../src/templates/categories.ts';
import { api, useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, SendIcon } from '../../parts/icons.tsx';
import { MailPreview } from '../../parts/mail-frame.tsx';
import { Page } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { useMay } from '../../session.ts';
import { FaultList, faultsOf, partOf } from './fault-list.tsx';
import type { EditorHandle } from './source-editor.tsx';
import { TestSendDialog } from './test-send.tsx';
import { JsonField, type Values, VariableForm } from './variable-form.tsx';
import { templateReads } from './versions.tsx';

const SourceEditor = lazy(async () => ({
  default: (await import('./source-editor.tsx')).SourceEditor,
}));

const SOURCE = ['subject', 'preheader', 'html', 'text', 'variables', 'sample'] as const;
type Source = Pick<TemplateVersion, (typeof SOURCE)[number]>;
type Draft = Source & Pick<TemplateVersion, 'name' | 'category' | 'description'>;

export function EditorPage() {
  const { slug } = useParams({ from: '/inside/templates/$slug/edit' });
  // What is edited is the newest version, whether it is in use or not.
  const template = useRead('templates.getVersion', { slug, version: 'newest' });
  const back = (
    <Link to="/templates/$slug" params={{ slug }} className="back-link">
      <BackIcon size={15} /> {template.data?.name ?? slug}
    </Link>
  );
  if (template.isError || template.data?.version === null) {
    const untouchable = 'System templates stay as they are. Clone it, then edit the copy.';
    return (
      <Page title="Edit" back={back}>
        <Fault fault={template.error ?? new Error(untouchable)} />
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

const sourceOf = ({ subject, preheader, html, text, variables, sample }: Source): Source => ({
  ...{ subject, preheader, html, text, variables, sample },
});

const draftOf = (template: TemplateVersion): Draft => {
  const { name, category, description } = template;
  return { name, category, description, ...sourceOf(template) };
};

function Editor({ template, back }: { template: TemplateVersion; back: React.ReactNode }) {
  const { slug } = template;
  const may = useMay('developer');
  const confirm = useConfirm();
  const [draft, setDraft] = useState(() => draftOf(template));
  const [saved, setSaved] = useState(draft);
  const [values, setValues] = useState<Values>(template.sample);
  const [tab, setTab] = useState<string | null>('html');
  const [testing, test] = useDisclosure();
  const handle = useRef<EditorHandle>(null);
  const dirty = JSON.stringify(draft) !== JSON.stringify(saved);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));

  const source = sourceOf(draft);
  const [previewed] = useDebouncedValue({ draft: source, variables: values }, 250);
  const preview = useQuery({
    queryKey: ['templates.render', slug, previewed],
    queryFn: () => api.templates.render({ slug, ...previewed }),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
  const actions = useVersionActions(template, draft, () => setSaved(draft));
  // Saved and refused: the same faults that the preview shows, unless only saving finds them.
  const shown = faultsOf(preview.error);
  const faults = shown.length > 0 || dirty ? shown : faultsOf(actions.fault);

  // The last mail that could be rendered stays while there is a fault.
  const [mail, setMail] = useState(preview.data);
  useEffect(() => {
    if (preview.data) setMail(preview.data);
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

  const show = (fault: SourceFault) => {
    const part = partOf(fault);
    setTab(part === 'html' || part === 'text' ? part : tab);
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
            {dirty ? 'Unsaved changes' : `Version ${actions.version}`}
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
                  faults={faults.filter((fault) => partOf(fault) === 'html')}
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
                    faults={faults.filter((fault) => partOf(fault) === 'text')}
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
          {preview.isError && shown.length === 0 && (
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

const faultOf = (faults: readonly SourceFault[], part: string): string | undefined =>
  faults.find((fault) => partOf(fault) === part)?.message;

/**
 * Saving makes a new version, publishing puts it in use. Both name the version that stands here:
 * what somebody else saved meanwhile is neither overwritten nor put live.
 */
function useVersionActions(template: TemplateVersion, draft: Draft, onSaved: () => void) {
  const { slug } = template;
  const [version, setVersion] = useState(template.version!);
  const save = useChange('templates.put', { changes: templateReads });
  const publish = useChange('templates.publish', { changes: templateReads });
  const keep = async () => {
    const saved = await save.mutateAsync({ slug, ...draft, base_version: version });
    setVersion(saved.version);
    onSaved();
    return saved.version;
  };
  return {
    version,
    saving: save.isPending,
    publishing: publish.isPending,
    fault: save.error,
    save: () => void keep().then((made) => tellDone(`Saved as version ${made}`), tellFault),
    publish: (dirty: boolean) =>
      void (async () => {
        const shown = dirty ? await keep() : version;
        await publish.mutateAsync({ slug, version: shown, base_version: shown });
        tellDone(`Version ${shown} is in use`);
      })().catch(tellFault),
  };
}
