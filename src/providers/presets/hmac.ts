import type { PresetInput } from '../preset.ts';

export default {
  id: 'hmac',
  name: 'Any provider with an HMAC signature',
  docs: 'https://www.rfc-editor.org/rfc/rfc2104',
  kind: 'generic',
  verification: null,
  customScheme: 'hmac',
  secret: { label: 'Secret', where: "The provider's page for this webhook" },
  eventName: 'webhook/received',
  setup: ['URL of the webhook: {url}', 'Copy the secret with which the provider signs, and paste it here.'],
  transform: `function transform(evt, headers, queryParams, raw) {
  return { name: "webhook/received", data: { body: evt } };
}
`,
  sample: {
    headers: { 'X-Signature': 'b1b2' },
    body: { kind: 'order.paid', order: 1042 },
    eventName: 'webhook/received',
  },
} satisfies PresetInput;
