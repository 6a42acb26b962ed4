import type { PresetInput } from '../preset.ts';

export default {
  id: 'discord',
  name: 'Discord',
  docs: 'https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint-validating-security-request-headers',
  verification: {
    scheme: 'public-key',
    algorithm: 'ed25519',
    encoding: 'hex',
    signature: { at: 'header:x-signature-ed25519' },
    signed: '{timestamp}{body}',
    timestamp: { at: 'header:x-signature-timestamp', unit: 's', tolerance: 600 },
    key: { encoding: 'hex', format: 'raw' },
  },
  secret: {
    label: 'Public key',
    where: 'Developer Portal → your application → General Information → Public Key',
    example: '64 hexadecimal digits',
    pattern: '^[0-9A-Fa-f]{64}$',
  },
  handshakes: [
    {
      // An interaction has an ID; a webhook event, whose type may be 1 as well, has none.
      when: [{ at: 'body:type', equals: '1' }, { at: 'body:id' }],
      verified: true,
      response: { type: 'application/json', body: { type: 1 } },
      note: 'Discord checked the URL for interactions.',
    },
    {
      when: [{ at: 'body:type', equals: '0' }, { at: 'body:application_id' }],
      verified: true,
      response: { status: 204, body: '' },
      note: 'Discord checked the URL for events.',
    },
  ],
  eventName: 'discord/command.{body:data.name}',
  eventId: 'body:id',
  setup: [
    'Open the Developer Portal and choose your application.',
    'Copy the public key of General Information and paste it here, before you give the URL to Discord: it checks the URL at once.',
    'Enter {url} as Interactions Endpoint URL (General Information) or as Endpoint URL (Webhooks), and choose the events.',
  ],
  transform: `function transform(evt) {
  if (evt.event) {
    const { type, timestamp, data } = evt.event;
    return {
      events: { name: "discord/" + type.toLowerCase(), ts: Date.parse(timestamp), data: data || {} },
      response: { status: 204 },
    };
  }
  const kinds = { 2: "command", 3: "component", 4: "autocomplete", 5: "modal" };
  const kind = kinds[evt.type] || "interaction";
  return {
    events: {
      name: "discord/" + kind + "." + (evt.data.name || evt.data.custom_id),
      ts: Number(BigInt(evt.id) >> 22n) + 1420070400000,    // an ID of Discord has its time
      data: evt,
    },
    // Discord shows that the reply is on its way: edit it with evt.token within 15 minutes.
    response: { body: { type: kind === "component" ? 6 : 5 } },
  };
}
`,
  sample: {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Discord-Webhook/1.0 (+https://discord.com)',
      'X-Signature-Ed25519':
        '5d1bf3b0f2a74a6ce9d8ba3cf0e6b10b56a4c6c6a53f1c9a7f9f0ab3b7f3e3c0a61f4f8d2b8b4a7f0f2be2c5f3ad9b7c1d0e5a9c4b3f2e1d0c9b8a7f6e5d4c0b',
      'X-Signature-Timestamp': '1768383012',
    },
    body: {
      id: '1460923847120015360',
      application_id: '1325847201936248832',
      type: 2,
      token: 'aW50ZXJhY3Rpb246MTQ2MDkyMzg0NzEyMDAxNTM2MA',
      data: {
        id: '1325849930217324564',
        name: 'order',
        type: 1,
        options: [{ name: 'number', type: 4, value: 1042 }],
      },
      channel_id: '902846113520275479',
      guild_id: '902846113520275476',
      member: { user: { id: '417203985521774602', username: 'ada', global_name: 'Ada' }, permissions: '2147483647' },
      locale: 'de',
      version: 1,
    },
    eventName: 'discord/command.order',
  },
} satisfies PresetInput;
