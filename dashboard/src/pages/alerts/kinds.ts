import type { AlertChannel } from '../../api/types.ts';

interface Kind {
  label: string;
  /** The field that it needs. */
  field: 'to' | 'url' | 'key';
  name: string;
  hint: string;
}

/** The kinds of channels, in the words of their own settings. */
export const KINDS: Record<AlertChannel['kind'], Kind> = {
  email: { label: 'Email', field: 'to', name: 'Addresses', hint: 'Separated by spaces or commas' },
  slack: { label: 'Slack', field: 'url', name: 'Webhook URL', hint: 'An incoming webhook of a Slack app' },
  discord: { label: 'Discord', field: 'url', name: 'Webhook URL', hint: 'Channel settings, Integrations, Webhooks' },
  teams: {
    label: 'Microsoft Teams',
    field: 'url',
    name: 'Webhook URL',
    hint: 'Workflow “Post to a channel when a webhook request is received”',
  },
  pagerduty: { label: 'PagerDuty', field: 'key', name: 'Integration key', hint: 'Of an Events API v2 integration' },
  opsgenie: { label: 'Opsgenie', field: 'key', name: 'API key', hint: 'Of an API integration' },
  webhook: { label: 'Webhook', field: 'url', name: 'URL', hint: 'Gets JSON, signed by Standard Webhooks' },
};
