/** Alert channels: where alerts are sent (docs/alerts.md#channels). */
import type { ChannelLimits } from './channel-queue.ts';

export const CHANNEL_KINDS = ['email', 'slack', 'discord', 'teams', 'pagerduty', 'opsgenie', 'webhook'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export const MESSAGES_PER_HOUR = 20;

export interface AlertChannel extends ChannelLimits {
  name: string;
  kind: ChannelKind;
  /** Addresses of email. */
  to?: string[];
  /** Destination of the requests: only the host of a URL that is itself a secret. */
  address: string;
  /** The ChannelSecrets as JSON, sealed. */
  sealed?: string;
  createdAt: number;
  updatedAt: number;
}

/** Never shown. */
export interface ChannelSecrets {
  url?: string;
  /** The routing key of PagerDuty, the API key of Opsgenie. */
  key?: string;
  /** `whsec_…`, with which requests of a webhook are signed. */
  signing?: string;
}

/** The default URL of each kind; email has none. */
export const DEFAULT_URLS: Partial<Record<ChannelKind, string>> = {
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  opsgenie: 'https://api.opsgenie.com/v2/alerts',
};
