import { jsonSample, type Template } from './template.ts';

export const stripe: Template = {
  id: 'stripe',
  label: 'Stripe',
  hint: 'Creates events named after Stripe’s types, such as stripe/charge.succeeded. Verify them with verifyWebhook.stripe.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    id: evt.id,
    name: "stripe/" + evt.type,
    ts: evt.created * 1000,    // seconds to milliseconds
    data: {
      ...evt.data,
      raw,
      sig: headers["Stripe-Signature"],
    },
  };
}
`,
  sample: jsonSample(
    {
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
    {
      'User-Agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      'Stripe-Signature': 't=1768383012,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    },
  ),
};
