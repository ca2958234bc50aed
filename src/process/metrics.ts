// Metrics for Prometheus: one registry per process, built in main.ts and served at /metrics.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    accepted: new Counter({
      name: 'sandmartin_sends_accepted_total',
      help: 'Sends accepted, by the door they came through: rest, mcp, smtp, resend and so on.',
      labelNames: ['door'] as const,
      registers,
    }),
    refused: new Counter({
      name: 'sandmartin_requests_refused_total',
      help: 'Requests refused, by problem code and door.',
      labelNames: ['code', 'door'] as const,
      registers,
    }),
    smtpConnections: new Gauge({
      name: 'sandmartin_smtp_connections',
      help: 'Programs connected to SMTP submission now, by how TLS begins there: starttls or at-once.',
      labelNames: ['tls'] as const,
      registers,
    }),
    smtpConnected: new Counter({
      name: 'sandmartin_smtp_connections_total',
      help: 'Connections to SMTP submission, by result: taken, or full if its network already has its share.',
      labelNames: ['result'] as const,
      registers,
    }),
    batchSize: new Histogram({
      name: 'sandmartin_accept_batch_size',
      help: 'Sends committed together.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    queueDepth: new Gauge({
      name: 'sandmartin_queue_depth',
      help: 'Due rows waiting or being worked on, by queue.',
      labelNames: ['queue'] as const,
      registers,
    }),
    queueAge: new Gauge({
      name: 'sandmartin_queue_age_seconds',
      help: 'How long the oldest due row has been due, by queue.',
      labelNames: ['queue'] as const,
      registers,
    }),
    trouble: new Gauge({
      name: 'sandmartin_trouble',
      help: 'Whether something keeps sends from being stored, by kind: away, disk-full, read-only, busy or queue-full.',
      labelNames: ['kind'] as const,
      registers,
    }),
    handoff: new Histogram({
      name: 'sandmartin_handoff_seconds',
      help: 'Time to hand one email to the relay.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
      registers,
    }),
    handoffs: new Counter({
      name: 'sandmartin_handoffs_total',
      help: 'Attempts to hand an email to the relay, by outcome.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    relayHandoffs: new Counter({
      name: 'sandmartin_relay_handoffs_total',
      help: 'Dialogues with each relay, one for each recipient, by how the connection went: ok, unreachable or lost.',
      labelNames: ['relay', 'outcome'] as const,
      registers,
    }),
    failovers: new Counter({
      name: 'sandmartin_failovers_total',
      help: 'Emails that a relay could not take and that were given to another, by the first.',
      labelNames: ['relay'] as const,
      registers,
    }),
    relayState: new Gauge({
      name: 'sandmartin_relay_state',
      help: 'The circuit of each relay: 0 closed (it works), 1 half-open (being probed), 2 open (sends are refused).',
      labelNames: ['relay'] as const,
      registers,
    }),
    relayHung: new Gauge({
      name: 'sandmartin_relay_hung_sessions',
      help: 'Sessions whose relay leaves an email without an answer; they do not count as connections.',
      labelNames: ['relay'] as const,
      registers,
    }),
    relayProbes: new Counter({
      name: 'sandmartin_relay_probes_total',
      help: 'Checks of a relay that no email has proved lately, by result: reached, failed or silent.',
      labelNames: ['relay', 'result'] as const,
      registers,
    }),
    unknownOutcomes: new Counter({
      name: 'sandmartin_unknown_outcomes_total',
      help: 'Attempts after which nobody knows whether the relay has the email: the connection broke after its content.',
      registers,
    }),
    unreadEvents: new Counter({
      name: 'sandmartin_provider_events_unread_total',
      help: 'Events that an email provider posted and that are not what it documents: dropped.',
      labelNames: ['provider'] as const,
      registers,
    }),
    setAside: new Counter({
      name: 'sandmartin_set_aside_total',
      help: 'Emails set aside by this process because they could not be read, composed or recorded.',
      registers,
    }),
    quarantine: new Gauge({
      name: 'sandmartin_quarantine',
      help: 'Emails that are set aside and wait for a person: sandmartin quarantine list.',
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'sandmartin_webhook_attempts_total',
      help: 'Webhook attempts, by what happened to the delivery: delivered, failed (tried again later) or abandoned.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    webhookSeconds: new Histogram({
      name: 'sandmartin_webhook_seconds',
      help: 'Time of one webhook attempt.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'sandmartin_webhooks_disabled_total',
      help: 'Webhook endpoints disabled by the service, by reason: gone or failing.',
      labelNames: ['reason'] as const,
      registers,
    }),
    loopDelay: new Histogram({
      name: 'sandmartin_loop_delay_seconds',
      help: 'How late the event loop was, checked 40 times a second.',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    loopStands: new Counter({
      name: 'sandmartin_loop_stands_total',
      help: 'How often the event loop was blocked by more than 100 ms of work. The log says what had started.',
      registers,
    }),
    jobsStopped: new Counter({
      name: 'sandmartin_jobs_stopped_total',
      help: 'Jobs that were stopped in their threads, by reason: time or memory.',
      labelNames: ['reason'] as const,
      registers,
    }),
    jobWait: new Histogram({
      name: 'sandmartin_job_wait_seconds',
      help: 'How long jobs waited for a thread.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    jobBatch: new Histogram({
      name: 'sandmartin_job_batch_size',
      help: 'Jobs handed to a thread together.',
      buckets: [1, 2, 4, 8, 16, 24],
      registers,
    }),
    events: new Counter({
      name: 'sandmartin_events_total',
      help: 'Events recorded, by kind.',
      labelNames: ['kind'] as const,
      registers,
    }),
  };
}
