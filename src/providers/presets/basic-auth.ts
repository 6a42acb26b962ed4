import type { PresetInput } from '../preset.ts';

export default {
  id: 'basic-auth',
  name: 'Any provider with HTTP Basic',
  docs: 'https://www.rfc-editor.org/rfc/rfc7617',
  kind: 'generic',
  verification: { scheme: 'basic' },
  secret: {
    label: 'User and password',
    where: 'Your choice, as user:password; the provider has fields for both, or takes them in the URL',
    example: 'user:password',
    pattern: '^[^:]+:.+$',
  },
  eventName: 'webhook/received',
  setup: ['URL of the webhook: {url}', 'Give user and password to the provider, and paste them here as user:password.'],
  transform: `function transform(evt, headers, queryParams, raw) {
  return { name: "webhook/received", data: { body: evt } };
}
`,
  sample: {
    headers: { Authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
    body: { kind: 'order.paid', order: 1042 },
    eventName: 'webhook/received',
  },
} satisfies PresetInput;
