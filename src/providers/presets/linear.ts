import type { PresetInput } from '../preset.ts';

export default {
  id: 'linear',
  name: 'Linear',
  docs: 'https://linear.app/developers/webhooks',
  verification: {
    scheme: 'hmac',
    signature: { at: 'header:linear-signature' },
    timestamp: { at: 'body:webhookTimestamp', unit: 'ms', tolerance: 60 },
  },
  secret: {
    label: 'Signing secret',
    where: 'Settings → API → Webhooks → your webhook → Signing secret',
    example: 'lin_wh_…',
  },
  eventName: 'linear/{body:type}.{body:action}',
  deliveryId: 'header:linear-delivery',
  setup: [
    'Open Settings → API → Webhooks → New webhook.',
    'URL: {url}',
    'Choose the data changes, and create the webhook.',
    'Copy the signing secret (lin_wh_…), and paste it here.',
  ],
  transform: {
    name: '"linear/" + evt.type.toLowerCase() + "." + evt.action',
    ts: 'Date.parse(evt.createdAt)',
    data: 'evt',
  },
  sample: {
    headers: {
      'User-Agent': 'Linear-Webhook',
      'Linear-Delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72',
      'Linear-Event': 'Issue',
      'Linear-Signature': '766e1d90a96e2f5ecec342a99c5552999dd95d49250171b902d703fd674f5086',
    },
    body: {
      action: 'create',
      type: 'Issue',
      createdAt: '2026-01-14T09:30:12.000Z',
      data: {
        id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
        identifier: 'HAR-42',
        title: 'The tide table is a day off',
        priority: 2,
        team: { id: '72b2a2dc-6f4f-4423-9d34-24b5bd10634a', key: 'HAR' },
        state: { name: 'Todo', type: 'unstarted' },
      },
      url: 'https://linear.app/harbour/issue/HAR-42',
      organizationId: 'cbc1f6c1-0a1c-4d1e-9d0b-2f8c9f1d7f11',
      webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
      webhookTimestamp: 1_768_383_012_000,
    },
    eventName: 'linear/issue.create',
  },
} satisfies PresetInput;
