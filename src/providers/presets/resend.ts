import type { PresetInput } from '../preset.ts';
import svix from './svix.ts';

export default {
  id: 'resend',
  name: 'Resend',
  docs: 'https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests',
  verification: svix.verification,
  secret: {
    label: 'Signing secret',
    where: 'Webhooks → your webhook → Signing Secret',
    example: 'whsec_…',
    pattern: svix.secret.pattern,
  },
  eventName: 'resend/{body:type}',
  deliveryId: svix.deliveryId,
  setup: [
    'Open Webhooks → Add Webhook.',
    'Endpoint URL: {url}',
    'Choose the events.',
    'Copy the signing secret (whsec_…), and paste it here.',
  ],
  transform: { name: '"resend/" + evt.type', ts: 'Date.parse(evt.created_at)', data: 'evt.data' },
  sample: {
    headers: svix.sample.headers,
    body: {
      type: 'email.delivered',
      created_at: '2026-01-14T09:30:12.418Z',
      data: {
        email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
        from: 'Harbour Goods <orders@harbour.example>',
        to: ['ada@example.com'],
        subject: 'Your tide clock is on its way',
        created_at: '2026-01-14T09:30:09.201Z',
        tags: { order: '9999' },
      },
    },
    eventName: 'resend/email.delivered',
  },
} satisfies PresetInput;
