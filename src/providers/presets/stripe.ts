import type { PresetInput } from '../preset.ts';

export default {
  id: 'stripe',
  name: 'Stripe',
  docs: 'https://docs.stripe.com/webhooks#verify-official-libraries',
  verification: {
    scheme: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    signature: { at: 'header:stripe-signature', separator: ',', prefix: 'v1=' },
    signed: '{timestamp}.{body}',
    timestamp: { at: 'header:stripe-signature', separator: ',', prefix: 't=', unit: 's', tolerance: 300 },
  },
  secret: {
    label: 'Signing secret',
    where: 'Workbench → Webhooks → your endpoint → Signing secret',
    example: 'whsec_…',
    pattern: '^whsec_\\S+$',
  },
  eventName: 'stripe/{body:type}',
  eventId: 'body:id',
  setup: [
    'Open Workbench → Webhooks and add a destination.',
    'Choose the events, then "Webhook endpoint".',
    'Endpoint URL: {url}',
    'Copy the signing secret (whsec_…) and paste it here.',
  ],
  transform: `function transform(evt) {
  return {
    name: "stripe/" + evt.type,
    ts: evt.created * 1000,    // seconds to milliseconds
    data: evt.data,
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      'Stripe-Signature': 't=1768383012,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    },
    body: {
      id: 'evt_3SpQ2eLkdIwHu7ix1kYt5nLg',
      object: 'event',
      api_version: '2025-09-30.clover',
      created: 1_768_383_012,
      type: 'invoice.paid',
      livemode: false,
      data: {
        object: {
          id: 'in_1SpQ2cLkdIwHu7ixNwW5F2Bq',
          object: 'invoice',
          amount_paid: 4900,
          currency: 'eur',
          customer: 'cus_NeZwdNtLEOXuvB',
          customer_email: 'ada@example.com',
          status: 'paid',
        },
      },
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
    },
    eventName: 'stripe/invoice.paid',
  },
} satisfies PresetInput;
