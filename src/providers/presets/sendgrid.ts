import type { PresetInput } from '../preset.ts';

export default {
  id: 'sendgrid',
  name: 'SendGrid',
  docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
  verification: {
    scheme: 'public-key',
    algorithm: 'ecdsa-p256-sha256',
    encoding: 'base64',
    signature: { at: 'header:x-twilio-email-event-webhook-signature' },
    signed: '{timestamp}{body}',
    // SendGrid sends again for 24 hours.
    timestamp: { at: 'header:x-twilio-email-event-webhook-timestamp', unit: 's', tolerance: 86_400 },
    key: { encoding: 'base64', format: 'der' },
  },
  secret: {
    label: 'Verification key',
    where: 'Settings → Mail Settings → Event Webhooks → your webhook → Signature verification',
    example: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…',
    pattern: '^(MF[A-Za-z0-9+/]+={0,2}|-----BEGIN PUBLIC KEY-----[\\s\\S]+)\\s*$',
  },
  eventName: 'sendgrid/{body:0.event}',
  sent: {
    none: 'SendGrid lists messages, not the requests that it sent.',
    docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event',
  },
  setup: [
    'Open Settings → Mail Settings → Event Webhooks and create a webhook.',
    'Post URL: {url}',
    'Choose the events, switch on "Enable Signed Event Webhook" and save.',
    'Copy the verification key and paste it here.',
  ],
  transform: `function transform(evt) {
  const all = [].concat(evt);
  // A request may make 100 events.
  if (all.length > 100) return { name: "sendgrid/batch", data: { events: all } };
  return all.map((one) => ({
    name: "sendgrid/" + one.event,
    id: one.sg_event_id ? "sendgrid:" + one.sg_event_id : undefined,
    ts: one.timestamp * 1000,    // seconds to milliseconds
    data: one,
  }));
}
`,
  sample: {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'SendGrid Event API',
      'X-Twilio-Email-Event-Webhook-Signature':
        'MEUCIQDzY1cTrGVdPTdOSXXDYPGE4NMtAxH0KGlgGTHFHQvFdwIgUO2B+LhTvSMd2v1LnqW0xCgPMTO1sAtPPvUoBiyk/Jg=',
      'X-Twilio-Email-Event-Webhook-Timestamp': '1768383012',
    },
    body: [
      {
        event: 'delivered',
        email: 'ada@example.com',
        timestamp: 1_768_383_009,
        sg_event_id: 'ZGVsaXZlcmVkLTAtMTIzNDU2Nzg5LWFiY2RlZg',
        sg_message_id: 'pW3xkq9NTzS-2aRr0Yc1cA.recvd-7c6f9d8b5-x2x9q-1-6967A5E1-1A.0',
        'smtp-id': '<pW3xkq9NTzS-2aRr0Yc1cA@geopod-ismtpd-12>',
        response: '250 2.0.0 OK',
        category: ['invoice'],
      },
    ],
    eventName: 'sendgrid/delivered',
  },
} satisfies PresetInput;
