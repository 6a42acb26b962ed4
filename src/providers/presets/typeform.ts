import type { PresetInput } from '../preset.ts';

export default {
  id: 'typeform',
  name: 'Typeform',
  docs: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:typeform-signature', prefix: 'sha256=' },
  },
  secret: {
    label: 'Secret',
    where: 'You choose it: the field Secret of the webhook',
  },
  eventName: 'typeform/{body:event_type}',
  eventId: 'body:event_id',
  setup: [
    'Open the form → Connect → Webhooks → Add a webhook.',
    'Endpoint: {url}',
    'Edit the webhook. Secret: a long random text. Paste the same one here.',
    'Turn the webhook on: Typeform creates it switched off.',
  ],
  transform: {
    name: '"typeform/" + evt.event_type',
    ts: 'Date.parse(evt.form_response?.submitted_at)',
    data: 'evt.form_response',
  },
  sample: {
    headers: {
      'User-Agent': 'Typeform Webhooks',
      'Typeform-Signature': 'sha256=wol0xWH7mfIvr8fEue6ddw35a1o+nt0jtP4YiZ0sd5I=',
    },
    body: {
      event_id: '01KEXG5TQ3V7FZQ5Z0M8Y2C4WD',
      event_type: 'form_response',
      form_response: {
        form_id: 'hB9tRk2x',
        token: 'q7c1m5v9x3z8b2n6l4k0j8h5g3f1d7s9',
        landed_at: '2026-01-14T09:28:40Z',
        submitted_at: '2026-01-14T09:30:12Z',
        definition: {
          id: 'hB9tRk2x',
          title: 'Book a mooring',
          fields: [{ id: 'Jr4kD8sW2pQx', ref: 'length', type: 'number', title: 'How long is your boat?' }],
        },
        answers: [{ type: 'number', number: 11, field: { id: 'Jr4kD8sW2pQx', ref: 'length', type: 'number' } }],
      },
    },
    eventName: 'typeform/form_response',
  },
} satisfies PresetInput;
