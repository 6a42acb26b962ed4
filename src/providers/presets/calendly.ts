import type { PresetInput } from '../preset.ts';

export default {
  id: 'calendly',
  name: 'Calendly',
  docs: 'https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures',
  verification: {
    scheme: 'hmac',
    signature: { at: 'header:calendly-webhook-signature', separator: ',', prefix: 'v1=' },
    signed: '{timestamp}.{body}',
    timestamp: { at: 'header:calendly-webhook-signature', separator: ',', prefix: 't=', unit: 's', tolerance: 180 },
  },
  secret: {
    label: 'Signing key',
    where:
      'You choose it: signing_key of the webhook subscription. Of an OAuth app: Calendly shows it when the app is created',
  },
  eventName: 'calendly/{body:event}',
  // Calendly gives its events no ID of their own.
  eventId: '{body:event}:{body:payload.uri}:{body:created_at}',
  setup: [
    'Choose a signing key, such as the output of "openssl rand -hex 32". Paste it here, and save the webhook.',
    'Create a personal access token in Calendly: Integrations & apps → API and webhooks.',
    'Send POST https://api.calendly.com/webhook_subscriptions with events, organization, scope, signing_key, and url: {url}',
  ],
  transform: { name: '"calendly/" + evt.event', ts: 'Date.parse(evt.created_at)', data: 'evt.payload' },
  sample: {
    headers: {
      'User-Agent': 'Calendly',
      'Calendly-Webhook-Signature': 't=1768383012,v1=12f687c0be46eb7083f54233ff646ffddd0590814151ba7cca7c4bb547078b49',
    },
    body: {
      event: 'invitee.created',
      created_at: '2026-01-14T09:30:12.000000Z',
      created_by: 'https://api.calendly.com/users/HARBOURMASTER001',
      payload: {
        uri: 'https://api.calendly.com/scheduled_events/MOORING000000042/invitees/ADA0000000000001',
        name: 'Ada Byron',
        email: 'ada@example.com',
        status: 'active',
        timezone: 'Europe/Berlin',
        rescheduled: false,
        scheduled_event: {
          uri: 'https://api.calendly.com/scheduled_events/MOORING000000042',
          name: 'Tour of the harbour',
          start_time: '2026-01-20T14:00:00.000000Z',
          end_time: '2026-01-20T14:30:00.000000Z',
        },
        cancel_url: 'https://calendly.com/cancellations/ADA0000000000001',
      },
    },
    eventName: 'calendly/invitee.created',
  },
} satisfies PresetInput;
