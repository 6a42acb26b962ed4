import type { PresetInput } from '../preset.ts';

export default {
  id: 'stripe',
  name: 'Stripe',
  docs: 'https://docs.stripe.com/webhooks#verify-official-libraries',
  verification: {
    scheme: 'hmac',
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
  sent: {
    docs: 'https://docs.stripe.com/api/events/list',
    api: 'https://api.stripe.com',
    key: {
      label: 'Restricted key',
      where: 'Developers → API keys → Create restricted key, with read access to Events and Webhook Endpoints',
      pattern: '^[rs]k_(live|test)_\\S+$',
    },
    account: [
      {
        name: 'endpoint',
        label: 'Endpoint ID',
        description: 'Of the webhook endpoint in Workbench → Webhooks, such as we_1Mr5jULkdIwHu7ix1ibLTM0x',
        pattern: 'we_\\w{1,100}',
      },
    ],
    sources: [{ list: '/v1/events', item: '/v1/events/{ref}' }],
    query: { limit: '100', 'created[gte]': '{from:s}', 'created[lte]': '{to:s}' },
    pages: { by: 'last-item', parameter: 'starting_after', id: 'id', more: 'has_more' },
    items: 'data',
    id: 'id',
    ref: 'id',
    time: { at: 'created', unit: 's' },
    idPattern: 'evt_\\w{1,100}',
    subscription: { path: '/v1/webhook_endpoints/{endpoint}', types: 'enabled_events', all: '*', type: 'type' },
    request: { body: '', headers: { 'content-type': 'application/json; charset=utf-8' } },
    keptDays: 30,
    note: "A recovered event has the account's API version, not that of the endpoint.",
  },
  order: {
    key: 'request.body.data.object.id',
    by: 'request.body.created',
    docs: 'https://docs.stripe.com/webhooks#event-ordering',
  },
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
