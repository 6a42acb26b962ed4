import type { PresetInput } from '../preset.ts';

export default {
  id: 'meta',
  name: 'Meta',
  docs: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
  verification: { scheme: 'hmac', signature: { at: 'header:x-hub-signature-256', prefix: 'sha256=' } },
  secret: {
    label: 'App secret',
    where: 'App Dashboard → App settings → Basic → App secret',
    pattern: '^[0-9a-f]{32}$',
    example: 'a1b2… (32 hex digits)',
  },
  settings: [
    {
      name: 'verify_token',
      label: 'Verify token',
      description: 'A text of your choice, also given to Meta: it proves the first request',
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
      response: { body: '{query:hub.challenge}' },
      note: 'Meta has verified the URL.',
    },
  ],
  eventName: 'meta/{body:object}',
  setup: [
    'Open the App Dashboard of your app and add the product Webhooks (or WhatsApp, Messenger, Instagram).',
    'Choose the object and click "Subscribe to this object".',
    'Callback URL: {url}',
    'Verify token: the text that you give here as well.',
    'Copy the app secret from App settings → Basic, and paste it here. Then click "Verify and save".',
  ],
  // Meta sends the changes of several objects in one request, and has no ID for it.
  transform: `function transform(evt) {
  return { name: "meta/" + evt.object, data: { entries: evt.entry } };
}
`,
  sample: {
    headers: {
      'User-Agent': 'facebookexternalua',
      'X-Hub-Signature-256': 'sha256=7d2a0c9c4be2a1f0e2f5b5a0c1d9b7f0c2a4f6e8d0b2a4c6e8f0a2b4c6d8e0f2',
    },
    body: {
      object: 'page',
      entry: [
        {
          id: '102030405060708',
          time: 1_768_383_012,
          changes: [
            {
              field: 'feed',
              value: {
                item: 'comment',
                verb: 'add',
                post_id: '102030405060708_90',
                comment_id: '90_17',
                from: { id: '5501', name: 'Ada Lovelace' },
                message: 'When do you open?',
              },
            },
          ],
        },
      ],
    },
    eventName: 'meta/page',
  },
} satisfies PresetInput;
