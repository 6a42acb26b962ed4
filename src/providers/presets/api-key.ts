import type { PresetInput } from '../preset.ts';

export default {
  id: 'api-key',
  name: 'Any provider with a key in a header or in the URL',
  docs: 'https://www.rfc-editor.org/rfc/rfc6750',
  kind: 'generic',
  verification: null,
  customScheme: 'token',
  secret: {
    label: 'Key',
    where: 'Your choice, or what the provider sends: the text after the prefix, if there is one',
  },
  eventName: 'webhook/received',
  setup: [
    'URL of the webhook: {url}',
    'Say where the key is: verification {"scheme": "token", "token": {"at": "header:x-api-key"}}.',
    'For "Authorization: Bearer <key>", add "prefix": "Bearer " to the token. For ?key=<key>, use "query:key".',
    'Give the key to the provider, and paste it here.',
  ],
  transform: `function transform(evt, headers, queryParams, raw) {
  return { name: "webhook/received", data: { body: evt } };
}
`,
  sample: {
    headers: { 'X-Api-Key': 'a-long-random-text' },
    body: { kind: 'order.paid', order: 1042 },
    eventName: 'webhook/received',
  },
} satisfies PresetInput;
