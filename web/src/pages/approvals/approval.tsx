// One email that waits for approval: as its reader would see it, with its headers and what differs
// from the last email of its template. The decision is about exactly what is shown: it carries its
// SHA-256.
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { HeldEmail, HeldEmailInFull } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { BackIcon, SendIcon } from '../../parts/icons.tsx';
import { Fact, Page, Section } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { tellDone } from '../../parts/results.ts';
import { saySize } from '../../parts/size.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { HeaderTable } from '../messages/content.tsx';
import { REASONS } from './approvals.tsx';

const back = (
  <Link to="/approvals" className="back-link">
    <BackIcon size={14} /> Waiting for approval
  </Link>
);

export function ApprovalPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const held = useRead('approvals.get', { sm_mail_id: id }, { watched: true });
  return (
    <PageOf asked={held} title="Approval" back={back}>
      {(data) => <Held held={data} />}
    </PageOf>
  );
}

function Held({ held: data }: { held: HeldEmailInFull }) {
  return (
    <Page
      title={data.subject || '(no subject)'}
      back={back}
      actions={data.state === 'waiting' && <Decision held={data} />}
    >
      <State held={data} />
      <Paper p="md" mb="lg">
        <Group gap="xl" align="flex-start">
          <Fact label="To">{data.recipients.join(', ')}</Fact>
          <Fact label="Why it waits">{REASONS[data.reason]}</Fact>
          <Fact label="Template">{data.template ?? 'None: written inline'}</Fact>
          <Fact label="Goes out">
            {data.scheduled_at === null ? 'Once approved' : <Time at={data.scheduled_at} />}
          </Fact>
          <Fact label="Expires">
            <Time at={data.expires_at} />
          </Fact>
        </Group>
      </Paper>
      <Differences held={data} />
      <Section title="The email">
        <EmailPreview email={{ ...data, from: data.from_email }} title={`Email: ${data.subject}`} />
      </Section>
      <Section title="Headers">
        <HeaderTable rows={headersOf(data)} />
      </Section>
    </Page>
  );
}

/**
 * It leaves the list at once; here the result is shown only once it is certain, because it cannot
 * be undone.
 */
const decided = {
  'approvals.list': (one: HeldEmail, { sm_mail_id }: { sm_mail_id: string }) =>
    one.sm_mail_id === sm_mail_id ? null : one,
};

function Decision({ held }: { held: HeldEmailInFull }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const { sm_mail_id, sha256, recipients } = held;
  const approve = useChange('approvals.approve', {
    foresee: decided,
    onDone: () => tellDone('Approved. It is sent exactly as you saw it.'),
  });
  const decline = useChange('approvals.decline', {
    foresee: decided,
    onDone: () => tellDone('Declined. It will not be sent.'),
  });
  if (!may) return null;
  return (
    <>
      <Button
        variant="default"
        loading={decline.isPending}
        onClick={() => decline.mutate({ sm_mail_id, sha256 })}
      >
        Decline
      </Button>
      <Button
        leftSection={<SendIcon size={16} />}
        loading={approve.isPending}
        onClick={async () => {
          const sure = await confirm({
            title: 'Send this email?',
            body: `It goes to ${recipients.join(', ')}, exactly as it is shown here.`,
            act: 'Approve and send',
            harmless: true,
          });
          if (sure) approve.mutate({ sm_mail_id, sha256 });
        }}
      >
        Approve
      </Button>
    </>
  );
}

const SAID: Record<HeldEmailInFull['state'], string> = {
  waiting: 'Nothing has been sent yet.',
  approved: 'It was approved.',
  declined: 'It was declined and will not be sent.',
  expired: 'It expired without a decision and will not be sent.',
  cancelled: 'It was cancelled and will not be sent.',
};

function State({ held }: { held: HeldEmailInFull }) {
  const { state, suppressed, sm_mail_id } = held;
  return (
    <Stack gap="sm" mb="lg">
      <Alert color={state === 'waiting' ? 'yellow' : 'gray'} variant="light">
        {SAID[state]} {held.decided_by && `Decided by ${held.decided_by}.`}{' '}
        {state !== 'waiting' && (
          <Link to="/messages/$id" params={{ id: sm_mail_id }} className="plain-link">
            See its timeline
          </Link>
        )}
      </Alert>
      {suppressed.length > 0 && (
        <Alert color="orange" variant="light">
          No copy goes to {suppressed.join(', ')}: suppressed or unsubscribed.
        </Alert>
      )}
    </Stack>
  );
}

function Differences({ held: { compared_with } }: { held: HeldEmailInFull }) {
  if (compared_with === null) return null;
  const { sm_mail_id, added, removed } = compared_with;
  const none = added.length + removed.length === 0;
  return (
    <Section
      title="What is different"
      lead={
        <>
          From the{' '}
          <Link to="/messages/$id" params={{ id: sm_mail_id }} className="plain-link">
            last email of this template
          </Link>
        </>
      }
    >
      {none && <Text size="sm">It reads the same.</Text>}
      {!none && (
        <Paper p="md">
          {removed.map((line) => (
            <Text key={`-${line}`} size="sm" c="dimmed" td="line-through">
              {line}
            </Text>
          ))}
          {added.map((line) => (
            <Text key={`+${line}`} size="sm" fw={500}>
              {line}
            </Text>
          ))}
        </Paper>
      )}
    </Section>
  );
}

function headersOf(held: HeldEmailInFull): [string, string][] {
  const rows: [string, string][] = [
    ['From', held.from_email],
    ['To', held.to.join(', ')],
    ['Cc', held.cc.join(', ')],
    ['Bcc (envelope only)', held.bcc.join(', ')],
    ['Reply-To', held.reply_to ?? ''],
    ['Subject', held.subject],
    ...held.headers.map(({ name, value }): [string, string] => [name, value]),
    ['Files', held.attachments.map((it) => `${it.filename} (${saySize(it.size)})`).join(', ')],
    ['SHA-256', held.sha256],
  ];
  return rows.filter(([, value]) => value !== '');
}
