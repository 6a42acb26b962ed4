/** Alert channels: the API's representation, user input, and its validation. */
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import {
  type AlertChannel,
  CHANNEL_KINDS,
  type ChannelKind,
  type ChannelSecrets,
  DEFAULT_URLS,
  MESSAGES_PER_HOUR,
} from '../../model/alerts/channel.ts';
import type { ChannelQueue } from '../../model/alerts/channel-queue.ts';
import { httpUrl } from '../../model/apps/app.ts';
import { isTimeZone } from '../../model/apps/cron.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeBetween } from '../http/validation.ts';
import { present } from './present.ts';

const RECIPIENTS_MAX = 20;
const MESSAGES_PER_HOUR_MAX = 1_000;

const KEY = /^[\x21-\x7e]{1,256}$/;

const wallClock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'expected a time such as 22:00');

const quietHours = z
  .strictObject({
    from: wallClock,
    to: wallClock,
    time_zone: z.string().max(64).refine(isTimeZone, 'expected a time zone such as Europe/Berlin').default('UTC'),
  })
  .refine(({ from, to }) => from !== to, 'expected two different times');

export const channelFields = {
  to: z.array(z.email().max(254)).min(1).max(RECIPIENTS_MAX).optional().describe('Addresses, for email'),
  url: z
    .string()
    .nullish()
    .describe(
      `The URL of an incoming webhook, for slack, discord, teams and webhook; never shown again. For pagerduty and opsgenie: another one than ${Object.values(DEFAULT_URLS).join(' and ')}`,
    ),
  key: z
    .string()
    .optional()
    .describe('The routing key of pagerduty (Events API v2), the API key of opsgenie. Never shown again'),
  quiet_hours: quietHours.nullish().describe('Messages wait until they are over'),
  messages_per_hour: wholeBetween(1, MESSAGES_PER_HOUR_MAX)
    .nullish()
    .describe(`What is more is summed up in later messages. Default: ${MESSAGES_PER_HOUR}`),
};

const inputSchema = z.object(channelFields);
export type ChannelInput = z.output<typeof inputSchema>;
export const channelKindSchema = z.enum(CHANNEL_KINDS);

export const alertChannelSchema = apiObject('AlertChannel', {
  name: z.string(),
  kind: channelKindSchema,
  to: z.array(z.string()).nullable(),
  address: z.string().describe('Recipients, or the host of the URL'),
  quiet_hours: z.object({ from: z.string(), to: z.string(), time_zone: z.string() }).nullable(),
  messages_per_hour: z.int(),
  waiting: z.int().describe('Changes of alerts that are not sent yet'),
  last_sent_at: timeOrNull.describe('In the last hour'),
  problem: textOrNull.describe('Why the last attempt failed; null: it did not'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const createdChannelSchema = alertChannelSchema
  .extend({
    secret: textOrNull.describe('`whsec_…` of Standard Webhooks, for the kind webhook. Shown only now'),
  })
  .meta({ id: 'CreatedAlertChannel' });

export function presentChannel(channel: AlertChannel, queue: ChannelQueue | undefined) {
  return present(alertChannelSchema, channel, {
    waiting: (queue?.waiting.length ?? 0) + (queue?.message?.changes.length ?? 0),
    last_sent_at: time(queue?.sentAt.at(-1)),
    problem: queue?.problem ?? null,
  });
}

const FIELDS: Record<ChannelKind, { needs: 'to' | 'url' | 'key'; may?: 'url' }> = {
  email: { needs: 'to' },
  slack: { needs: 'url' },
  discord: { needs: 'url' },
  teams: { needs: 'url' },
  pagerduty: { needs: 'key', may: 'url' },
  opsgenie: { needs: 'key', may: 'url' },
  webhook: { needs: 'url' },
};

/** The channel with the input, and its secrets.
 *  @throws ServiceError input_invalid, naming the field */
export function withChannelInput(
  before: Pick<AlertChannel, 'name' | 'kind'> & Partial<AlertChannel>,
  secrets: ChannelSecrets,
  input: ChannelInput,
  { hasMail, nowMs }: { hasMail: boolean; nowMs: number },
): { channel: Omit<AlertChannel, 'sealed'>; secrets: ChannelSecrets } {
  const { name, kind } = before;
  const { needs, may } = FIELDS[kind];
  // Errors do not quote what is secret.
  if (input.url != null && !httpUrl.safeParse(input.url).success) {
    throw invalidField('url', 'expected an http or https URL');
  }
  if (input.key !== undefined && !KEY.test(input.key)) {
    throw invalidField('key', 'expected the key as the service shows it');
  }
  const url = input.url === undefined ? secrets.url : (input.url ?? undefined);
  const given = { to: input.to ?? before.to, url, key: input.key ?? secrets.key };
  if (given[needs] === undefined) throw invalidField(needs, `required for the kind "${kind}"`);
  for (const field of ['to', 'url', 'key'] as const) {
    if (field === needs || field === may || input[field] == null) continue;
    throw invalidField(field, `the kind "${kind}" has no such field`);
  }
  if (kind === 'email' && !hasMail) {
    throw invalidField('kind', 'the service sends no mail, because SMTP_URL and ALERT_FROM are not set');
  }
  const quiet = input.quiet_hours === undefined ? before.quietHours : input.quiet_hours;
  const isApiShape = quiet && 'time_zone' in quiet;
  const quietHours = isApiShape ? { from: quiet.from, to: quiet.to, timeZone: quiet.time_zone } : quiet;
  const perHour = input.messages_per_hour === undefined ? before.messagesPerHour : input.messages_per_hour;
  const channel = {
    name,
    kind,
    ...(given.to && { to: given.to }),
    address: given.to?.join(', ') ?? new URL(given.url ?? DEFAULT_URLS[kind] ?? '').host,
    ...(quietHours && { quietHours }),
    messagesPerHour: perHour ?? MESSAGES_PER_HOUR,
    createdAt: before.createdAt ?? nowMs,
    updatedAt: nowMs,
  };
  const { url: _, ...others } = secrets;
  return { channel, secrets: { ...others, ...(url && { url }), ...(given.key && { key: given.key }) } };
}
