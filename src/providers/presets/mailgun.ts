import type { PresetInput } from '../preset.ts';

export default {
  id: 'mailgun',
  name: 'Mailgun',
  docs: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
  verification: {
    scheme: 'hmac',
    signature: { at: 'body:signature.signature' },
    signed: '{timestamp}{body:signature.token}',
    // Mailgun sends again for 8 hours.
    timestamp: { at: 'body:signature.timestamp', unit: 's', tolerance: 43_200 },
  },
  secret: {
    label: 'HTTP webhook signing key',
    where: 'Account settings → API security → HTTP webhook signing key',
  },
  eventName: 'mailgun/{body:event-data.event}',
  // The ID of the event is unsuitable: the event itself is not signed, so a signature counts for one request only.
  deliveryId: 'body:signature.token',
  setup: [
    'Open Send → Sending → Webhooks and choose the domain.',
    'Add a webhook for each kind of event with the URL {url}',
    'Copy the HTTP webhook signing key of Account settings → API security, and paste it here.',
  ],
  transform: `function transform(evt) {
  const event = evt["event-data"];
  return {
    name: "mailgun/" + event.event,
    ts: Math.round(event.timestamp * 1000),    // seconds to milliseconds
    data: event,
  };
}
`,
  sample: {
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'mailgun/treq-22.4.0' },
    body: {
      signature: {
        token: 'b01c6b0b7a7b4a0c96a1e1b7e1f5a4c3d2e1f0a9b8c7d6e5f4',
        timestamp: '1768383012',
        signature: '4f3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e',
      },
      'event-data': {
        id: 'Ase7i2zsRYeDXztHGENqRA',
        event: 'delivered',
        timestamp: 1_768_383_009.741_02,
        'log-level': 'info',
        recipient: 'ada@example.com',
        'recipient-domain': 'example.com',
        message: {
          headers: {
            'message-id': '20260114093007.3f8c1@mg.example.org',
            from: 'Shop <shop@mg.example.org>',
            to: 'ada@example.com',
            subject: 'Your invoice',
          },
          size: 5_120,
        },
        'delivery-status': { code: 250, message: 'OK', 'attempt-no': 1, tls: true },
        tags: ['invoice'],
      },
    },
    eventName: 'mailgun/delivered',
  },
} satisfies PresetInput;
