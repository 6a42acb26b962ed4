import type { PresetInput } from '../preset.ts';

export default {
  id: 'jwt',
  name: 'Any provider with a JSON Web Token',
  docs: 'https://www.rfc-editor.org/rfc/rfc7519',
  kind: 'generic',
  verification: null,
  customScheme: 'jwt',
  secret: {
    label: 'Key',
    where: 'The secret of an HMAC, a public key in PEM, or the https: URL of the JWK set of the provider',
    example: 'https://accounts.example.com/.well-known/jwks.json',
  },
  eventName: 'webhook/received',
  setup: [
    'URL of the webhook: {url}',
    'Find out where the provider sends the token, and its issuer and audience.',
    'Paste the key by which tokens are verified here. A token says who calls; it does not protect the body.',
  ],
  transform: `function transform(evt) {
  return { name: "webhook/received", data: { body: evt } };
}
`,
  sample: {
    headers: {
      'Content-Type': 'application/json',
      Authorization: 'Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.e30.c2ln',
    },
    body: { kind: 'order.paid', order: 1042 },
    eventName: 'webhook/received',
  },
} satisfies PresetInput;
