import type { PresetInput } from '../preset.ts';

export default {
  id: 'notion',
  name: 'Notion',
  docs: 'https://developers.notion.com/reference/webhooks',
  verification: { scheme: 'hmac', signature: { at: 'header:x-notion-signature', prefix: 'sha256=' } },
  secret: {
    label: 'Verification token',
    where: "verification_token in the body of Notion's first request: see the request log of this webhook",
    example: 'secret_…',
    pattern: '^secret_\\S+$',
  },
  handshakes: [
    {
      // The request delivers the token that later verifies requests, so this request itself cannot be verified.
      when: [{ at: 'body:verification_token' }],
      verified: false,
      response: { body: 'ok' },
      note: 'Notion sent its verification token: copy verification_token from the body, save it as the secret of this webhook, and enter it in Notion below Verify',
    },
  ],
  eventName: 'notion/{body:type}',
  eventId: 'body:id',
  setup: [
    'Save the webhook without a secret.',
    'In the settings of your Notion integration, open Webhooks → Create a subscription.',
    'Webhook URL: {url}',
    "Choose the events, and create the subscription. Notion's first request appears in the log of this webhook.",
    'Copy verification_token (secret_…) from its body, and paste it here as the secret.',
    'In Notion, click Verify, and paste it there as well.',
  ],
  transform: {
    name: '"notion/" + evt.type',
    ts: 'Date.parse(evt.timestamp)',
    data: '{ entity: evt.entity, authors: evt.authors, ...evt.data }',
  },
  sample: {
    headers: {
      'User-Agent': 'notion-api',
      'X-Notion-Signature': 'sha256=b1a13156a84af98a45fe4aa7db492c46a7ba491857e7ed1ce927b0805a87f92d',
    },
    body: {
      id: '367cba44-b6f3-4c92-81e7-6a2e9659efd4',
      timestamp: '2026-01-14T09:30:12.418Z',
      workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
      workspace_name: 'Harbour',
      subscription_id: '29d75c0d-5546-4414-8459-7b7a92f1fc4b',
      integration_id: '0ef2e755-4912-8096-91c1-00376a88a5ca',
      type: 'page.created',
      authors: [{ id: 'c7c11cca-1d73-471d-9b6e-bdef51470190', type: 'person' }],
      attempt_number: 1,
      api_version: '2025-09-03',
      entity: { id: '153104cd-477e-809d-8dc4-ff2d96ae3090', type: 'page' },
      data: { parent: { id: '13950b26-c203-4f3b-b97d-93ec06319565', type: 'space' } },
    },
    eventName: 'notion/page.created',
  },
} satisfies PresetInput;
