import type { PresetInput } from '../preset.ts';

export default {
  id: 'intercom',
  name: 'Intercom',
  docs: 'https://developers.intercom.com/docs/webhooks/setting-up-webhooks',
  verification: { scheme: 'hmac', algorithm: 'sha1', signature: { at: 'header:x-hub-signature', prefix: 'sha1=' } },
  secret: {
    label: 'Client secret',
    where: 'Developer Hub → your app → Basic information → Client secret',
  },
  eventName: 'intercom/{body:topic}',
  eventId: 'body:id',
  setup: [
    'Open the Developer Hub → your app → Basic information. Copy the client secret, and paste it here.',
    'Open Configure → Webhooks.',
    'Endpoint URL: {url}',
    'Choose the topics, and save.',
  ],
  transform: `function transform(evt) {
  return {
    name: "intercom/" + evt.topic,
    ts: evt.created_at * 1000,    // seconds to milliseconds
    data: { app_id: evt.app_id, item: evt.data.item },
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'intercom-webhook-service/1.0',
      'X-Hub-Signature': 'sha1=600aea1800bd57d7fe1df418e837df7ae4389e1c',
    },
    body: {
      type: 'notification_event',
      app_id: 'h4rb0urx',
      id: 'notif_4bf1c0d2-9a57-4e0b-8f6a-1f0f6d2b7c11',
      topic: 'conversation.user.created',
      created_at: 1_768_383_012,
      first_sent_at: 1_768_383_013,
      delivery_attempts: 1,
      delivery_status: 'pending',
      data: {
        type: 'notification_event_data',
        item: {
          type: 'conversation',
          id: '215469870042',
          created_at: 1_768_383_011,
          state: 'open',
          source: { type: 'conversation', subject: '', body: '<p>Is the harbour open on Sunday?</p>' },
          contacts: { type: 'contact.list', contacts: [{ type: 'contact', id: '6a1f0c9b2e7d4835' }] },
        },
      },
    },
    eventName: 'intercom/conversation.user.created',
  },
} satisfies PresetInput;
