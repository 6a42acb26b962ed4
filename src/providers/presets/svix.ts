import type { PresetInput } from '../preset.ts';

export default {
  id: 'svix',
  name: 'Any provider that sends with Svix',
  docs: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
  kind: 'generic',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:svix-signature', separator: ' ', prefix: 'v1,' },
    signed: '{header:svix-id}.{timestamp}.{body}',
    timestamp: { at: 'header:svix-timestamp', unit: 's', tolerance: 300 },
    key: { encoding: 'base64', prefix: 'whsec_' },
  },
  secret: {
    label: 'Signing secret',
    where: 'The page of the endpoint → Signing Secret',
    example: 'whsec_…',
    pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
  },
  eventName: 'webhook/{body:type}',
  deliveryId: 'header:svix-id',
  setup: [
    "Add an endpoint on the provider's page for webhooks.",
    'Endpoint URL: {url}',
    'Choose the events.',
    'Copy the signing secret (whsec_…), and paste it here.',
  ],
  transform: {
    name: '"webhook/" + (evt.type ?? evt.eventType ?? "received")',
    ts: 'Date.parse(evt.timestamp)',
    data: 'evt.data ?? { body: evt }',
  },
  sample: {
    headers: {
      'User-Agent': 'Svix-Webhooks/1.84.0',
      'Svix-Id': 'msg_37nQxTideTableHarb0ur42aBcD',
      'Svix-Timestamp': '1768383012',
      'Svix-Signature': 'v1,brK3c8m6YZ2OGj/kmk/cSfhd9+aEBKbt57+B2kaRdqY=',
    },
    body: {
      type: 'invoice.paid',
      timestamp: '2026-01-14T09:30:12.418Z',
      data: { id: 'inv_1042', total: 39_800, currency: 'EUR' },
    },
    eventName: 'webhook/invoice.paid',
  },
} satisfies PresetInput;
