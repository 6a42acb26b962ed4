import type { PresetInput } from '../preset.ts';

export default {
  id: 'twitch',
  name: 'Twitch',
  docs: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events#verifying-the-event-message',
  verification: {
    scheme: 'hmac',
    signature: { at: 'header:twitch-eventsub-message-signature', prefix: 'sha256=' },
    signed: '{header:twitch-eventsub-message-id}{timestamp}{body}',
    timestamp: { at: 'header:twitch-eventsub-message-timestamp', unit: 'iso', tolerance: 600 },
  },
  secret: {
    label: 'Secret of the subscription',
    where: 'Your choice, 10 to 100 ASCII characters: transport.secret of the subscriptions that you create',
    pattern: '^[\\x20-\\x7e]{10,100}$',
  },
  handshakes: [
    {
      when: [{ at: 'header:twitch-eventsub-message-type', equals: 'webhook_callback_verification' }],
      verified: true,
      response: { body: '{body:challenge}' },
      note: 'Twitch has verified the URL for a subscription.',
    },
  ],
  eventName: 'twitch/{body:subscription.type}',
  deliveryId: 'header:twitch-eventsub-message-id',
  setup: [
    'Choose a secret of 10 to 100 characters, paste it here and save this webhook.',
    'POST to https://api.twitch.tv/helix/eventsub/subscriptions with type, version and condition.',
    'transport.method: webhook, transport.callback: {url}',
    'transport.secret: the secret that you paste here.',
  ],
  // A revocation has the subscription with its reason, and no event.
  transform: `function transform(evt, headers) {
  if (headers["Twitch-Eventsub-Message-Type"] === "revocation") {
    return { name: "twitch/revocation", data: evt.subscription };
  }
  return { name: "twitch/" + evt.subscription.type, data: evt };
}
`,
  sample: {
    headers: {
      'Twitch-Eventsub-Message-Id': 'e76c6bd4-55c9-4987-8304-da1588d8988b',
      'Twitch-Eventsub-Message-Retry': '0',
      'Twitch-Eventsub-Message-Type': 'notification',
      'Twitch-Eventsub-Message-Signature': 'sha256=6d1c0f2b3a4958675463728190afbecd0d1c2b3a495867f6e5d4c3b2a1908f7e',
      'Twitch-Eventsub-Message-Timestamp': '2026-01-14T09:30:12.634234626Z',
      'Twitch-Eventsub-Subscription-Type': 'channel.follow',
      'Twitch-Eventsub-Subscription-Version': '2',
    },
    body: {
      subscription: {
        id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4',
        type: 'channel.follow',
        version: '2',
        status: 'enabled',
        cost: 0,
        condition: { broadcaster_user_id: '1337', moderator_user_id: '1337' },
        transport: { method: 'webhook', callback: 'https://events.example.com/e/…' },
        created_at: '2026-01-10T10:11:12.123Z',
      },
      event: {
        user_id: '1234',
        user_login: 'ada',
        user_name: 'Ada',
        broadcaster_user_id: '1337',
        broadcaster_user_login: 'grace',
        broadcaster_user_name: 'Grace',
        followed_at: '2026-01-14T09:30:12.171Z',
      },
    },
    eventName: 'twitch/channel.follow',
  },
} satisfies PresetInput;
