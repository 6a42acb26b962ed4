import type { PresetInput } from '../preset.ts';

export default {
  id: 'x',
  name: 'X (Twitter)',
  docs: 'https://docs.x.com/x-api/webhooks/quickstart',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:x-twitter-webhooks-signature', prefix: 'sha256=' },
  },
  secret: {
    label: 'API key secret',
    where: 'Developer Console → your app → Keys and tokens → API key secret (consumer secret)',
  },
  methods: ['GET', 'POST'],
  handshakes: [
    {
      method: 'GET',
      when: [{ at: 'query:crc_token' }],
      verified: false,
      response: {
        type: 'application/json',
        body: { response_token: 'sha256={hmac:sha256:base64:query:crc_token}' },
      },
      note: 'X has checked the URL. It does so again every hour.',
    },
  ],
  eventName: 'x/{body:data.event_type}',
  setup: [
    'Copy the API key secret of your app, paste it here and save this webhook.',
    'POST to https://api.x.com/2/webhooks with the bearer token of your app.',
    'url: {url}',
    'Subscribe to events of accounts, or link a filtered stream, with the ID of the webhook that X answers.',
  ],
  // The Account Activity API names events by a field such as tweet_create_events.
  transform: `function transform(evt) {
  const field = Object.keys(evt).find((key) => key.endsWith("_events"));
  return { name: "x/" + (evt.data?.event_type ?? field ?? "event"), data: evt.data ?? evt };
}
`,
  sample: {
    headers: { 'X-Twitter-Webhooks-Signature': 'sha256=pT5l2m9Yd0oZ3kq1uJ8xHc7vB6nA4sR2eW0tQyGfLiM=' },
    body: {
      data: {
        filter: { user_id: '2244994945' },
        event_type: 'profile.update.bio',
        tag: 'biographies',
        payload: { before: 'Engines', after: 'Analytical engines' },
      },
    },
    eventName: 'x/profile.update.bio',
  },
} satisfies PresetInput;
