// The template editor: source on the left, the email on the right as you type, errors marked in the
// source.
import { Alert, Button, Group, Skeleton, Switch, Tabs, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Suspense, useRef, useState } from 'react';
import type { Fault as SourceFault } from '../../../../src/client/calls.ts';
import type { TemplateVersion } from '../../../../src/client/operations.ts';
import { useLeaveGuard } from '../../kept-draft.ts';
import { api, useRead } from '../../operations.ts';
import { useDrawn } from '../../parts/drawn.ts';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, SendIcon } from '../../parts/icons.tsx';
import { AfterPaint, later, OnceOpened } from '../../parts/later.tsx';
import { Page } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { sourceOf } from './draft.ts';
import { FaultList, faultsOf, partOf } from './fault-list.tsx';
import { Findings } from './findings.tsx';
import { LanguageSelect } from './language-select.tsx';
import type { EditorHandle } from './source-editor.tsx';
import type { Values } from './variable-form.tsx';
import { useVersionActions } from './version-actions.tsx';
import { useWork, type Work } from './work.ts';

const SourceEditor = later(async () => (await import('./source-editor.tsx')).SourceEditor);
const OtherPanels = later(async () => (await import('./panels.tsx')).OtherPanels);
const TestSendDialog = later(async () => (await import('./test-send.tsx')).TestSendDialog);

export function EditorPage() {
  const { slug } = useParams({ from: '/inside/templates/$slug/edit' });
  // What is edited is the newest version, whether it is in use or not.
  const template = useRead('templates.getVersion', { slug, version: 'newest' });
  const back = (
    <Link to="/templates/$slug" params={{ slug }} className="back-link">
      <BackIcon size={15} /> {template.data?.name ?? slug}
    </Link>
  );
  return (
    <PageOf asked={template} title="Edit" back={back} height={620} wide>
      {(data) =>
        data.version === null ? (
          <Page title="Edit" back={back}>
            <Fault fault={UNTOUCHABLE} />
          </Page>
        ) : (
          <Editor key={slug} template={data} back={back} />
        )
      }
    </PageOf>
  );
}

const UNTOUCHABLE = 'System templates cannot be changed. Clone this one, then edit the copy.';

function Editor({ template, back }: { template: TemplateVersion; back: React.ReactNode }) {
  const { slug } = template;
  const may = useMay('developer');
  const work = useWork(template);
  const { draft, dirty, change } = work;
  const [values, setValues] = useState<Values>(draft.sample);
  const { tab = 'html' } = useSearch({ from: '/inside/templates/$slug/edit' });
  const navigate = useNavigate({ from: '/templates/$slug/edit' });
  const setTab = (next: string | null) =>
    void navigate({
      search: next && next !== 'html' ? { tab: next } : {},
      replace: true,
      ignoreBlocker: true,
    });
  const [locale, setLocale] = useState<string>();
  const [testing, test] = useDisclosure();
  const handle = useRef<EditorHandle>(null);

  const request = { slug, draft: sourceOf(draft), variables: values, locale };
  const { last: email, fault } = useDrawn('templates.render', request, api.templates.render);
  const actions = useVersionActions(slug, work);
  // Refused on saving: the same faults that the preview shows, unless only saving finds them.
  const shown = faultsOf(fault);
  const faults = shown.length > 0 || dirty ? shown : faultsOf(actions.fault);

  useLeaveGuard(dirty);

  const show = (fault: SourceFault) => {
    const part = partOf(fault);
    if (part === 'html' || part === 'text') setTab(part);
    // The editor of another tab is mounted only after the next paint.
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
            {dirty ? 'Unsaved changes' : `Version ${work.base}`}
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
                loading={actions.saving}
                disabled={faults.length > 0}
                onClick={actions.publish}
              >
                Publish…
              </Button>
            </>
          )}
        </>
      }
    >
      {work.restored && <Restored work={work} />}
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
            description="The line inboxes show after the subject"
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
              <Tabs.Tab value="messages">Messages</Tabs.Tab>
              <Tabs.Tab value="details">Details</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="html">
              <AfterPaint meanwhile={<Skeleton height={560} radius={10} />}>
                <SourceEditor
                  label="HTML source"
                  handle={handle}
                  value={draft.html}
                  onChange={(html) => change({ html })}
                  variables={draft.variables}
                  faults={faults.filter((fault) => partOf(fault) === 'html')}
                />
              </AfterPaint>
            </Tabs.Panel>
            <Tabs.Panel value="text">
              <Switch
                mb="sm"
                label="Derive the text from the HTML"
                checked={draft.text === null}
                onChange={(event) =>
                  change({ text: event.currentTarget.checked ? null : (email?.text ?? '') })
                }
              />
              {draft.text !== null && (
                <Suspense fallback={<Skeleton height={480} />}>
                  <SourceEditor
                    label="Text source"
                    handle={handle}
                    value={draft.text}
                    onChange={(text) => change({ text })}
                    variables={draft.variables}
                    faults={faults.filter((fault) => partOf(fault) === 'text')}
                  />
                </Suspense>
              )}
            </Tabs.Panel>
            {tab !== 'html' && tab !== 'text' && (
              <Suspense fallback={<Skeleton height={480} />}>
                <OtherPanels {...{ draft, change, values }} onValues={setValues} />
              </Suspense>
            )}
          </Tabs>
        </div>
        <div>
          {faults.length > 0 && <FaultList faults={faults} onGo={show} />}
          {faults.length === 0 && <Findings findings={email?.findings ?? []} />}
          <LanguageSelect
            locales={Object.keys(draft.messages ?? {})}
            mb="xs"
            value={locale}
            onChange={setLocale}
          />
          <EmailPreview
            email={email}
            fault={shown.length === 0 ? fault?.message : undefined}
            title="Live preview"
            minHeight={640}
          />
        </div>
      </div>
      {actions.dialogs}
      <OnceOpened opened={testing}>
        <TestSendDialog slug={slug} request={request} opened={testing} onClose={test.close} />
      </OnceOpened>
    </Page>
  );
}

const faultOf = (faults: readonly SourceFault[], part: string): string | undefined =>
  faults.find((fault) => partOf(fault) === part)?.message;

function Restored({ work }: { work: Work }) {
  return (
    <Alert mb="md" color="martin" role="status">
      <Group justify="space-between">
        <Text size="sm">
          These are your unsaved changes from <Time at={work.restored!} />.
        </Text>
        <Button size="compact-xs" variant="default" onClick={work.discard}>
          Discard them
        </Button>
      </Group>
    </Alert>
  );
}
