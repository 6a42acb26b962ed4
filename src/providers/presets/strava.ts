import type { PresetInput } from '../preset.ts';

export default {
  id: 'strava',
  name: 'Strava',
  docs: 'https://developers.strava.com/docs/webhooks/',
  // Strava signs nothing: only the token in the URL distinguishes its requests from others.
  verification: { scheme: 'token', token: { at: 'query:token' } },
  secret: {
    label: 'Token of the callback URL',
    where:
      'Your choice, at least 16 letters and digits: Strava signs nothing, so the callback URL ends with ?token=<this>',
    pattern: '^[A-Za-z0-9_-]{16,128}$',
  },
  settings: [
    {
      name: 'verify_token',
      label: 'Verify token',
      description: 'A text of your choice, also given to Strava: it proves the first request',
      required: true,
    },
  ],
  methods: ['GET', 'POST'],
  handshakes: [
    {
      method: 'GET',
      when: [
        { at: 'query:hub.mode', equals: 'subscribe' },
        { at: 'query:hub.verify_token', setting: 'verify_token' },
      ],
      verified: false,
      response: { type: 'application/json', body: { 'hub.challenge': '{query:hub.challenge}' } },
      note: 'Strava has validated the URL.',
    },
  ],
  eventName: 'strava/{body:object_type}.{body:aspect_type}',
  eventId: '{body:subscription_id}:{body:object_id}:{body:aspect_type}:{body:event_time}',
  setup: [
    'Choose two texts: a token for the URL (the secret here) and a verify token. Save this webhook with both.',
    'POST to https://www.strava.com/api/v3/push_subscriptions with client_id and client_secret of your app.',
    'callback_url: {url}?token=<the token>',
    'verify_token: the verify token that you give here as well.',
    'Strava signs no requests. Without the token, save the webhook with "verify": false: its URL is then the only secret.',
  ],
  transform: `function transform(evt) {
  return { name: "strava/" + evt.object_type + "." + evt.aspect_type, ts: evt.event_time * 1000, data: evt };
}
`,
  sample: {
    headers: {},
    query: 'token=4Tnq0cKpW9sXb2Ld',
    body: {
      aspect_type: 'update',
      event_time: 1_768_383_012,
      object_id: 1_360_128_428,
      object_type: 'activity',
      owner_id: 134_815,
      subscription_id: 120_475,
      updates: { title: 'Lunch ride' },
    },
    eventName: 'strava/activity.update',
  },
} satisfies PresetInput;
