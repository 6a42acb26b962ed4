import type { PresetInput } from '../preset.ts';

export default {
  id: 'postmark',
  name: 'Postmark',
  docs: 'https://postmarkapp.com/developer/webhooks/webhooks-overview#protecting-your-webhook',
  verification: { scheme: 'basic' },
  secret: {
    label: 'User and password',
    where: 'You choose them; Postmark sends them with HTTP Basic authentication',
    example: 'postmark:a long password',
    pattern: '^[^:]+:.+$',
  },
  eventName: 'postmark/{body:RecordType}',
  setup: [
    'Choose a user and a long password, and paste them here as user:password.',
    'Open your server → the message stream → Webhooks and add a webhook.',
    'Webhook URL: {url}',
    'Enter the user and the password under "Basic auth credentials", and choose the events.',
  ],
  transform: `function transform(evt) {
  const type = evt.RecordType || "Inbound";
  const at = evt.ReceivedAt || evt.DeliveredAt || evt.BouncedAt || evt.ChangedAt || evt.Date;
  const who = evt.Recipient || evt.Email || evt.OriginalRecipient;
  return {
    name: "postmark/" + type,
    id: evt.MessageID && ["postmark", type, evt.MessageID, who, at].join(":"),    // no field alone is unique
    ts: Date.parse(at) || undefined,
    data: evt,
  };
}
`,
  sample: {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Postmark',
      Authorization: 'Basic cG9zdG1hcms6YSBsb25nIHBhc3N3b3Jk',
    },
    body: {
      RecordType: 'Delivery',
      ServerID: 1_482_217,
      MessageStream: 'outbound',
      MessageID: '6a4f0c1e-3b7d-4d86-9f0a-52c8e1b7d930',
      Recipient: 'ada@example.com',
      Tag: 'invoice',
      DeliveredAt: '2026-01-14T09:30:12Z',
      Details: 'smtp;250 2.0.0 OK',
      Metadata: { order: '1042' },
    },
    eventName: 'postmark/Delivery',
  },
} satisfies PresetInput;
