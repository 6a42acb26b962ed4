import { jsonSample, type Template } from './template.ts';

export const generic: Template = {
  id: 'json',
  label: 'Any JSON',
  hint: 'The body becomes the data of the event webhook/received.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: "webhook/received",
    data: evt,
  };
}
`,
  sample: jsonSample({ id: 'ord_1042', status: 'paid', total: 1990, customer: { email: 'ada@example.com' } }),
};

export const signed: Template = {
  id: 'signed',
  label: 'Any JSON, with signature',
  hint: 'Passes on the raw body and the signature, so that a function can verify them with verifyWebhook.hmac.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: "webhook/received",
    data: {
      raw,
      // Replace with your provider's header, in this spelling.
      sig: headers["X-Signature"],
    },
  };
}
`,
  sample: jsonSample(
    { id: 'ord_1042', status: 'paid', total: 1990 },
    { 'X-Signature': '0a9c65f93f0f6d2f1b7c26e4dbd2f5a1a4c6a4d8ce4bb0f8f9a3a1f7f5bb2c10' },
  ),
};

export const standard: Template = {
  id: 'standard-webhooks',
  label: 'Standard Webhooks (Svix, Clerk, Resend)',
  hint: 'Named after the type in the body. Verify it in a function with verifyWebhook.standard.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const id = headers["Webhook-Id"] || headers["Svix-Id"];
  return {
    id: "webhook-" + id,
    name: "webhook/" + evt.type,
    data: {
      payload: evt.data,
      raw,
      sig: headers["Webhook-Signature"] || headers["Svix-Signature"],
      id,
      timestamp: headers["Webhook-Timestamp"] || headers["Svix-Timestamp"],
    },
  };
}
`,
  sample: jsonSample(
    {
      type: 'user.created',
      timestamp: '2026-01-14T09:30:12Z',
      data: { user_id: 'user_29w83s', email: 'ada@example.com' },
    },
    {
      'Webhook-Id': 'msg_2b7QmC6y0W1nF3hVxq8Zt5LkR4d',
      'Webhook-Timestamp': '1768383012',
      'Webhook-Signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  ),
};
