/** Keys of the webhooks room. */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const webhookKeys = (prefix: string) => ({
  webhooks: `${prefix}:webhooks`,
  webhookKeys: `${prefix}:webhook-keys`,
  heldEvents: `${prefix}:held-events`,
  heldEvent: (id: string) => `${prefix}:held-event:${id}`,
  heldEventEnvironment: (id: string) => `${prefix}:held-event-environment:${id}`,
  removedWebhooks: `${prefix}:removed-webhooks`,
});

/** In the partition of the webhook's ID. */
export const webhookLogKeys = (prefix: string) => ({
  webhookLog: (webhookId: string) => `${prefix}:webhook-log:${webhookId}`,
  webhookRejections: (webhookId: string) => `${prefix}:webhook-rejections:${webhookId}`,
  webhookLogSizes: (webhookId: string) => `${prefix}:webhook-log-sizes:${webhookId}`,
  webhookRequest: (webhookId: string, requestId: string) => `${prefix}:webhook-request:${webhookId}:${requestId}`,
  unarchivedRequests: (webhookId: string) => `${prefix}:unarchived-requests:${webhookId}`,
  dueWebhookLogs: `${prefix}:due-webhook-logs`,
  webhookLogsListed: `${prefix}:webhook-logs-listed`,
});

export const WEBHOOK_KEY_DECLARATIONS = {
  webhooks: {
    pattern: 'webhooks',
    type: 'hash',
    owner: 'webhooks/webhooks.ts',
    ttl: 'none',
    size: '1 field per webhook',
    description: 'Webhook ID → webhook, as JSON.',
  },
  webhookKeys: {
    pattern: 'webhook-keys',
    type: 'hash',
    owner: 'webhooks/webhooks.ts',
    ttl: 'none',
    size: '1 field per key',
    description: 'Key of a webhook URL → webhook ID.',
  },
  webhookLog: {
    pattern: 'webhook-log:<webhook ID>',
    type: 'zset',
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: '`WEBHOOK_LOG_SIZE` entries; with an archive, up to 10,000 until they are archived',
    description: 'IDs of the logged requests; every score is 0.',
  },
  webhookRejections: {
    pattern: 'webhook-rejections:<webhook ID>',
    type: 'zset',
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: 'a part of the log',
    description: 'IDs of the logged requests that were rejected; every score is 0.',
  },
  webhookLogSizes: {
    pattern: 'webhook-log-sizes:<webhook ID>',
    type: 'hash',
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days, renewed',
    size: '1 field per logged request',
    description:
      'Request ID → bytes of the logged request; the field `total` is the sum (32 MiB at most), `dropped` the highest ID that left the log.',
  },
  webhookRequest: {
    pattern: 'webhook-request:<webhook ID>:<request ID>',
    type: 'hash',
    owner: 'webhooks/webhook-log.ts',
    ttl: '7 days',
    size: '1 request',
    description: 'A logged request: `summary` and `request` as JSON, `body` byte for byte.',
  },
  heldEvents: {
    pattern: 'held-events',
    type: 'zset',
    owner: 'webhooks/held-events.ts',
    ttl: 'retention, renewed and trimmed with each entry',
    size: '1 entry per held event',
    description: 'Event IDs by time of receipt (ms).',
  },
  heldEvent: {
    pattern: 'held-event:<event ID>',
    type: 'string',
    owner: 'webhooks/held-events.ts',
    ttl: 'retention',
    size: '1 event',
    description: 'A held event, as JSON.',
  },
  heldEventEnvironment: {
    pattern: 'held-event-environment:<event ID>',
    type: 'string',
    owner: 'webhooks/held-events.ts',
    ttl: 'retention',
    size: 'a name',
    description: 'The environment that the held event is assigned to; the first assignment wins.',
  },
  removedWebhooks: {
    pattern: 'removed-webhooks',
    type: 'hash',
    owner: 'webhooks/unarchived-requests.ts',
    ttl: 'none',
    size: '1 field per deleted webhook that the archive has not been told of',
    description: 'Webhook ID → time of its deletion (ms). Only with an archive.',
  },
  unarchivedRequests: {
    pattern: 'unarchived-requests:<webhook ID>',
    type: 'zset',
    owner: 'webhooks/unarchived-requests.ts',
    ttl: '7 days, renewed',
    size: 'a part of the log',
    description:
      'IDs of the logged requests that the archive does not have yet; every score is 0. Only with an archive.',
  },
  dueWebhookLogs: {
    pattern: 'due-webhook-logs',
    type: 'zset',
    owner: 'webhooks/unarchived-requests.ts',
    ttl: '7 days, renewed',
    size: '1 entry per webhook with a log',
    description: 'Webhook ID by the time (ms) at which the archiver looks at its log. Only with an archive.',
  },
  webhookLogsListed: {
    pattern: 'webhook-logs-listed',
    type: 'string',
    owner: 'webhooks/unarchived-requests.ts',
    ttl: '10 min',
    size: '1 byte',
    description: 'All webhooks were entered in `due-webhook-logs` a moment ago. Only with an archive.',
  },
} as const satisfies Record<keyof (ReturnType<typeof webhookKeys> & ReturnType<typeof webhookLogKeys>), KeyDeclaration>;
