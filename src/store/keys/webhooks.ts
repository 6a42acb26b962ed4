/** Keys of the webhooks room. */
import { hash, string, zset } from './key-declaration.ts';

export const WEBHOOK_KEYS = {
  webhooks: hash('webhooks', 'Webhook ID → webhook, as JSON.', {
    owner: 'webhooks/webhooks.ts',
    ttl: 'none',
    size: '1 field per webhook',
  }),
  webhookKeys: hash('webhook-keys', 'Key of a webhook URL → webhook ID.', {
    owner: 'webhooks/webhooks.ts',
    ttl: 'none',
    size: '1 field per key',
  }),
  webhookVersions: hash(
    'webhook-versions:<webhook ID>',
    'Version → who saved it when; `<version>:snapshot` → webhook (JSON).',
    { owner: 'webhooks/webhook-versions.ts', ttl: 'none', size: '100 versions and 2 MiB; deleted with the webhook' },
  ),
  heldEvents: zset('held-events', 'Held events by receipt (ms).', {
    owner: 'webhooks/held-events.ts',
    ttl: 'retention, renewed and trimmed',
    size: '1 entry per held event',
  }),
  heldEventsOf: zset('held-events-of:<env>', 'Those of an environment, or of all branches, by receipt (ms).', {
    owner: 'webhooks/held-events.ts',
    ttl: 'retention, renewed and trimmed',
    size: '1 entry per held event',
  }),
  heldEvent: string('held-event:<event ID>', 'Held event, as JSON.', {
    owner: 'webhooks/held-events.ts',
    ttl: 'retention',
    size: '1 event',
  }),
  heldEventEnvironment: string(
    'held-event-environment:<event ID>',
    'Environment it is assigned to; first assignment wins.',
    { owner: 'webhooks/held-events.ts', ttl: 'retention', size: 'a name' },
  ),
  webhookTransmission: string(
    'webhook-transmission:<webhook ID>:<SHA-256>',
    'SHA-256 of the first body with a PayPal transmission ID.',
    { owner: 'webhooks/transmissions.ts', ttl: '2 days', size: '64 bytes' },
  ),
  removedWebhooks: hash('removed-webhooks', 'Deleted webhook → time (ms), until the archive knows.', {
    owner: 'webhooks/unarchived-requests.ts',
    ttl: 'none',
    size: '1 field per such webhook',
  }),
  webhookWatch: hash('webhook-watch', '`since`: start of uninterrupted service (ms); `seen`: last check.', {
    owner: 'webhooks/webhook-watch.ts',
    ttl: '30 days, renewed',
    size: '2 fields',
  }),
  dueWebhookReconciliations: zset('due-webhook-reconciliations', 'Webhooks to reconcile by their next round (ms).', {
    owner: 'webhooks/webhook-reconciliations.ts',
    ttl: '30 days, renewed',
    size: '1 entry per such webhook',
  }),
  webhookReconciliationAlive: string('webhook-reconciliation-alive', 'When a web process last looked for them (ms).', {
    owner: 'webhooks/webhook-reconciliations.ts',
    ttl: '30 days, renewed',
    size: 'a number',
  }),
};

/** These keys are in the partition of the webhook's ID. */
export const WEBHOOK_LOG_KEYS = {
  webhookLog: zset('webhook-log:<webhook ID>', 'Logged requests; every score is 0.', {
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: '`WEBHOOK_LOG_SIZE`; with an archive, 10,000 until archived',
  }),
  webhookRejections: zset('webhook-rejections:<webhook ID>', 'Logged requests that were rejected.', {
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: 'part of the log',
  }),
  webhookFiltered: zset('webhook-filtered:<webhook ID>', 'Filtered requests.', {
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: 'part of the log',
  }),
  webhookUnverified: zset('webhook-unverified:<webhook ID>', 'Logged requests that failed verification.', {
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: 'part of the log',
  }),
  webhookLogSizes: hash(
    'webhook-log-sizes:<webhook ID>',
    'Request ID → bytes; `total` (32 MiB at most); `dropped`: highest ID that left the log.',
    { owner: 'webhooks/webhook-log.ts', ttl: '7 days, renewed', size: '1 field per logged request' },
  ),
  webhookRequest: hash(
    'webhook-request:<webhook ID>:<request ID>',
    '`summary` and `request` as JSON, `body` byte for byte.',
    { owner: 'webhooks/webhook-log.ts', ttl: '7 days', size: '1 request' },
  ),
  originalRequest: hash(
    'original-request:<webhook ID>:<request ID>',
    '`headers` as JSON and `body` for destinations.',
    { owner: 'webhooks/original-requests.ts', ttl: 'retention; 7 days at most; until archived', size: '1 request' },
  ),
  webhookIssue: hash(
    'webhook-issue:<issue ID>',
    'Kind, state, counts, last failure as JSON. `tell:<event>:<times reopened>`: event to send.',
    { owner: 'webhooks/webhook-issues.ts', ttl: '90 days, renewed by each failure', size: '18 fields, 20 reasons' },
  ),
  webhookIssues: zset('webhook-issues:<state>', 'Issues in this state by last failure (ms).', {
    owner: 'webhooks/webhook-issues.ts',
    ttl: '90 days, renewed and trimmed',
    size: '4 entries per webhook',
  }),
  webhookIssueNotifications: zset(
    'untold-webhook-issues',
    '`<issue ID> <event> <times reopened>` of events to send, by due time (ms).',
    { owner: 'webhooks/webhook-issues.ts', ttl: '90 days, renewed', size: '1 entry per event, for seconds' },
  ),
  webhookTraffic: hash(
    'webhook-traffic:<webhook ID>',
    'Hour since 1970 → requests, accepted, rejected, filtered, unverified, longest gap (ms), as JSON. `last`: last receipt (ms).',
    { owner: 'webhooks/webhook-traffic.ts', ttl: '16 days, renewed', size: '192 hours, and 1 field' },
  ),
  unarchivedRequests: zset('unarchived-requests:<webhook ID>', 'Logged requests to archive.', {
    owner: 'webhooks/unarchived-requests.ts',
    ttl: '7 days, renewed',
    size: 'part of the log',
  }),
  dueWebhookLogs: zset('due-webhook-logs', 'Webhook ID by next check of the archiver (ms).', {
    owner: 'webhooks/unarchived-requests.ts',
    ttl: '7 days, renewed',
    size: '1 entry per webhook with a log',
  }),
  webhookLogsListed: string('webhook-logs-listed', 'All webhooks were just entered in `due-webhook-logs`.', {
    owner: 'webhooks/unarchived-requests.ts',
    ttl: '10 min',
    size: '1 byte',
  }),
  webhookReconciliation: hash(
    'webhook-reconciliation:<webhook ID>',
    "`since` (ms: names the list), `dueAt`, `asked`, `pass` (JSON: how far the provider's list is read), `checked` (JSON: the compared span), `problem` (JSON).",
    { owner: 'webhooks/webhook-reconciliations.ts', ttl: '30 days, renewed', size: '10 fields' },
  ),
  webhookCame: zset(
    'webhook-came:<webhook ID>',
    "Provider's ID of requests that came, by receipt (ms), until they are in the provider's list.",
    { owner: 'webhooks/webhook-reconciliations.ts', ttl: '8 days, renewed and trimmed', size: '250,000 entries' },
  ),
  webhookSent: zset(
    'webhook-sent:<webhook ID>',
    "Provider's ID of listed requests that came or were recovered, by the provider's time (ms).",
    { owner: 'webhooks/webhook-reconciliations.ts', ttl: '8 days, renewed and trimmed', size: '250,000 entries' },
  ),
  webhookRecovered: zset('webhook-recovered:<webhook ID>', 'Those of `webhook-sent` that were recovered.', {
    owner: 'webhooks/webhook-reconciliations.ts',
    ttl: '8 days, renewed and trimmed',
    size: 'part of `webhook-sent`',
  }),
  webhookMissing: zset(
    'webhook-missing:<webhook ID>',
    "Provider's ID of listed requests that did not come, by the provider's time (ms).",
    { owner: 'webhooks/webhook-reconciliations.ts', ttl: '8 days, renewed and trimmed', size: '50,000 entries' },
  ),
  webhookMissingDetails: hash(
    'webhook-missing-details:<webhook ID>',
    "Provider's ID → ID in its API, ID of the event, why it is not recovered (JSON).",
    { owner: 'webhooks/webhook-reconciliations.ts', ttl: '8 days, renewed', size: '1 field per missing request' },
  ),
};
