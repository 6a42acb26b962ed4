import type { PresetInput } from '../preset.ts';

export default {
  id: 'zendesk',
  name: 'Zendesk',
  docs: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:x-zendesk-webhook-signature' },
    signed: '{timestamp}{body}',
    timestamp: { at: 'header:x-zendesk-webhook-signature-timestamp', unit: 'iso', tolerance: 300 },
  },
  secret: {
    label: 'Signing secret',
    where: 'Admin Center → Apps and integrations → Webhooks → your webhook → Reveal secret',
  },
  eventName: 'zendesk/{body:type}',
  // The ID in the body is unsuitable: users write the bodies of triggers and automations, where `id` may be the ID of a record.
  deliveryId: 'header:x-zendesk-webhook-invocation-id',
  setup: [
    'Open Admin Center → Apps and integrations → Webhooks → Create webhook.',
    'Choose the Zendesk events, or "Trigger or automation".',
    'Endpoint URL: {url}',
    'Request method POST, request format JSON, no authentication.',
    "Open the webhook's details, reveal its signing secret, and paste it here.",
  ],
  transform: `function transform(evt) {
  // The body of triggers and automations is your own, and need not have a type.
  const type = evt.type?.split(":").at(-1) ?? "received";
  return {
    name: "zendesk/" + type,
    ts: Date.parse(evt.time),
    data: evt,
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'Zendesk Webhook',
      'X-Zendesk-Account-Id': '123456',
      'X-Zendesk-Webhook-Id': '01KEXFZR6T4B1N8Y5S2G9M3K7C',
      'X-Zendesk-Webhook-Invocation-Id': '01KEXG5V0H2K9X6R3S1T7N4B8E',
      'X-Zendesk-Webhook-Signature': 'fwMPeR/tGetLiEqznuCKOP/jhl0Upc7AbuDMwc7RIXA=',
      'X-Zendesk-Webhook-Signature-Timestamp': '2026-01-14T09:30:13Z',
    },
    body: {
      account_id: 123_456,
      id: '2b24ef10-19d5-4740-93cf-8f98ec4776c0',
      type: 'zen:event-type:user.created',
      subject: 'zen:user:8447388090494',
      time: '2026-01-14T09:30:12.418213547Z',
      zendesk_event_version: '2022-06-20',
      event: {},
      detail: {
        id: '8447388090494',
        email: 'ada@example.com',
        role: 'end-user',
        organization_id: null,
        created_at: '2026-01-14T09:30:11Z',
        updated_at: '2026-01-14T09:30:11Z',
      },
    },
    eventName: 'zendesk/user.created',
  },
} satisfies PresetInput;
