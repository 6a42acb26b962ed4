import type { PresetInput } from '../preset.ts';

export default {
  id: 'braintree',
  name: 'Braintree',
  docs: 'https://developer.paypal.com/braintree/docs/guides/webhooks/parse',
  verification: { scheme: 'braintree' },
  secret: {
    label: 'Public key and private key',
    where: 'Control Panel → API → API Keys: the key pair with which the webhook was created, as public_key:private_key',
    example: 'public_key:private_key',
    pattern: '^[^:|&\\s]+:\\S+$',
  },
  eventName: 'braintree/notification',
  setup: [
    'Open the Control Panel → API → Webhooks and create a webhook.',
    'Destination URL: {url}',
    'Choose the notifications and save.',
    'Paste public key and private key of your API key here, with a colon between them.',
    'Click "Check URL": Braintree sends a notification of the kind "check".',
  ],
  transform: `function transform(evt) {
  const bytes = Uint8Array.from(atob(evt.bt_payload[0].trim()), (char) => char.charCodeAt(0));
  const xml = new TextDecoder().decode(bytes);
  const text = (tag) => (xml.match("<" + tag + "[^>]*>([^<]*)</" + tag + ">") || [])[1];
  return {
    name: "braintree/notification",
    ts: Date.parse(text("timestamp")),
    data: { kind: text("kind"), xml },    // parse the subject with an XML library
  };
}
`,
  sample: {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'User-Agent': 'Braintree-Webhooks' },
    body: new URLSearchParams({
      bt_signature: 'integration_public_key|0f4c1e2d3b5a69788796a5b4c3d2e1f00f1e2d3c',
      bt_payload: Buffer.from(
        `<notification>
  <timestamp type="datetime">2026-01-14T09:30:12Z</timestamp>
  <kind>subscription_charged_successfully</kind>
  <subject>
    <subscription>
      <id>sub-1042</id>
      <status>Active</status>
      <price>49.00</price>
    </subscription>
  </subject>
</notification>
`,
      ).toString('base64'),
    }).toString(),
    eventName: 'braintree/notification',
  },
} satisfies PresetInput;
