import type { PresetInput } from '../preset.ts';

export default {
  id: 'pagerduty',
  name: 'PagerDuty',
  docs: 'https://docs.pagerduty.com/developer/verifying-webhook-signatures',
  verification: {
    scheme: 'hmac',
    // A list while PagerDuty rotates the secret.
    signature: { at: 'header:x-pagerduty-signature', separator: ',', prefix: 'v1=' },
  },
  secret: {
    label: 'Signing secret',
    where: 'Shown once, when the webhook subscription has been created',
  },
  eventName: 'pagerduty/{body:event.event_type}',
  eventId: 'body:event.id',
  setup: [
    'Open Integrations → Generic Webhooks (v3) → New Webhook.',
    'Webhook URL: {url}',
    'Choose the scope and the events, and add the webhook.',
    'Copy the secret, which PagerDuty shows only once, and paste it here.',
  ],
  transform: `function transform({ event }) {
  return {
    name: "pagerduty/" + event.event_type,
    ts: Date.parse(event.occurred_at),
    data: { ...event.data, agent: event.agent },
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'PagerDuty-Webhook/V3.0',
      'X-Webhook-Subscription': 'PTIDE42',
      'X-PagerDuty-Signature': 'v1=b0e0407c2d70162b40d22307cc3a5e973c7e2dd23a371652ee808308190246c3',
    },
    body: {
      event: {
        id: '01EXG5TQ3V7FZQ5Z0M8Y2C4WDA',
        event_type: 'incident.triggered',
        resource_type: 'incident',
        occurred_at: '2026-01-14T09:30:12.418Z',
        agent: { id: 'PTIDE01', type: 'user_reference', summary: 'Ada Byron' },
        client: null,
        data: {
          id: 'QHARB0UR42',
          type: 'incident',
          number: 42,
          status: 'triggered',
          title: 'The tide table has no row for today',
          urgency: 'high',
          created_at: '2026-01-14T09:30:12Z',
          service: { id: 'PTIDE02', type: 'service_reference', summary: 'Tide table' },
          html_url: 'https://harbour.pagerduty.com/incidents/QHARB0UR42',
        },
      },
    },
    eventName: 'pagerduty/incident.triggered',
  },
} satisfies PresetInput;
