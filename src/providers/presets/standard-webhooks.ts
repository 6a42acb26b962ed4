import type { PresetInput } from '../preset.ts';

export default {
  id: 'standard-webhooks',
  name: 'Any provider with Standard Webhooks',
  docs: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  kind: 'generic',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:webhook-signature', separator: ' ', prefix: 'v1,' },
    signed: '{header:webhook-id}.{timestamp}.{body}',
    timestamp: { at: 'header:webhook-timestamp', unit: 's', tolerance: 300 },
    key: { encoding: 'base64', prefix: 'whsec_' },
  },
  secret: {
    label: 'Signing secret',
    where: "The provider's page for this webhook",
    example: 'whsec_…',
    pattern: '^(whsec_)?[A-Za-z0-9+/]+={0,2}$',
  },
  eventName: 'webhook/{body:type}',
  deliveryId: 'header:webhook-id',
  setup: ['URL of the webhook: {url}', 'Copy the signing secret (whsec_…), and paste it here.'],
  transform: {
    name: '"webhook/" + (evt.type ?? "received")',
    ts: 'Date.parse(evt.timestamp)',
    data: 'evt.data ?? { body: evt }',
  },
  sample: {
    headers: {
      'Webhook-Id': 'msg_37nQxTideTableHarb0ur43eFgH',
      'Webhook-Timestamp': '1768383012',
      'Webhook-Signature': 'v1,wBmcTQqR/NA6e/xql9zz6P1hkpALiU7nGp0RGDL9LdU=',
    },
    body: {
      type: 'order.paid',
      timestamp: '2026-01-14T09:30:12.418Z',
      data: { id: 'ord_1042', total: 39_800, currency: 'EUR' },
    },
    eventName: 'webhook/order.paid',
  },
} satisfies PresetInput;
