/** GitLab with a signing token: Standard Webhooks. */
import type { PresetInput } from '../preset.ts';
import gitlab from './gitlab.ts';
import standardWebhooks from './standard-webhooks.ts';

const { 'X-Gitlab-Token': _, ...headers } = gitlab.sample.headers;

export default {
  id: 'gitlab-signed',
  name: 'GitLab with a signing token',
  docs: gitlab.docs,
  verification: standardWebhooks.verification,
  secret: {
    label: 'Signing token',
    where: 'The field Signing token of the webhook',
    example: 'whsec_…',
    pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  },
  eventName: gitlab.eventName,
  deliveryId: 'header:webhook-id',
  setup: [
    'Open the project or group → Settings → Webhooks → Add new webhook.',
    'URL: {url}',
    'Create the signing token (whsec_…), and paste it here.',
    'Choose the triggers, and leave SSL verification on.',
  ],
  transform: gitlab.transform,
  sample: {
    ...gitlab.sample,
    headers: {
      ...headers,
      'Webhook-Id': headers['Idempotency-Key'],
      'Webhook-Timestamp': '1768383012',
      'Webhook-Signature': 'v1,2Hh1wKpM3bJq7m2m8oKcI3y0p5m1dD0b8q0n4Zp0XbA=',
    },
  },
} satisfies PresetInput;
