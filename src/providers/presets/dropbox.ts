import type { PresetInput } from '../preset.ts';

export default {
  id: 'dropbox',
  name: 'Dropbox',
  docs: 'https://www.dropbox.com/developers/reference/webhooks',
  verification: { scheme: 'hmac', signature: { at: 'header:x-dropbox-signature' } },
  secret: { label: 'App secret', where: 'App Console → your app → Settings → App secret' },
  methods: ['GET', 'POST'],
  handshakes: [
    {
      method: 'GET',
      when: [{ at: 'query:challenge' }],
      verified: false,
      response: { body: '{query:challenge}' },
      note: 'Dropbox has verified the URL.',
    },
  ],
  eventName: 'dropbox/list_folder',
  setup: [
    'Open your app in the App Console and copy its app secret; paste it here and save this webhook.',
    'In the section Webhooks of the app, add the URI {url}',
  ],
  // Dropbox tells whose files changed; /files/list_folder/continue tells what changed.
  transform: `function transform(evt) {
  return { name: "dropbox/list_folder", data: { accounts: evt.list_folder.accounts } };
}
`,
  sample: {
    headers: {
      'User-Agent': 'DropboxWebhooks/1.0',
      'X-Dropbox-Signature': '8a1f0e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1',
    },
    body: {
      list_folder: {
        accounts: ['dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc', 'dbid:AAGx4oiLtHdvRdNxUpvvJBXYgR4BS19c9kw'],
      },
      delta: { users: [12345678, 23456789] },
    },
    eventName: 'dropbox/list_folder',
  },
} satisfies PresetInput;
