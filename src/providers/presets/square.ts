import type { PresetInput } from '../preset.ts';

export default {
  id: 'square',
  name: 'Square',
  docs: 'https://developer.squareup.com/docs/webhooks/step3validate',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:x-square-hmacsha256-signature' },
    signed: '{url}{body}',
  },
  secret: {
    label: 'Signature key',
    where: 'Developer Console → your application → Webhooks → Subscriptions → your subscription → Signature key',
  },
  eventName: 'square/{body:type}',
  eventId: 'body:event_id',
  setup: [
    'Open the Developer Console, choose your application, then Webhooks → Subscriptions.',
    'Add a subscription with the notification URL {url}',
    'Choose the events and save.',
    'Open the subscription, copy its signature key and paste it here.',
  ],
  transform: {
    name: '"square/" + evt.type',
    ts: 'Date.parse(evt.created_at)',
    data: '{ merchant_id: evt.merchant_id, ...evt.data }',
  },
  sample: {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Square Connect v2',
      'X-Square-Hmacsha256-Signature': 'n0JnQfL7mJk0x7T4hN8y6s1yV9sG2xq3b5d7f9h1j3k=',
      'Square-Environment': 'Production',
    },
    body: {
      merchant_id: 'MLE4R8T2Q6W1Z',
      location_id: 'L7HXY2Q9F4K0M',
      type: 'payment.updated',
      event_id: '0f4a6f7e-54c3-3c1d-9b8e-0d5d7a3c2e11',
      created_at: '2026-01-14T09:30:12.418Z',
      data: {
        type: 'payment',
        id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY',
        object: {
          payment: {
            id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY',
            amount_money: { amount: 4900, currency: 'EUR' },
            status: 'COMPLETED',
            order_id: '5pBNn2xlkSEe0cdQzJ1yW3hYt7MZY',
            version: 3,
          },
        },
      },
    },
    eventName: 'square/payment.updated',
  },
} satisfies PresetInput;
