import type { PresetInput } from '../preset.ts';

export default {
  id: 'asana',
  name: 'Asana',
  docs: 'https://developers.asana.com/docs/webhooks-guide',
  verification: { scheme: 'hmac', signature: { at: 'header:x-hook-signature' } },
  secret: {
    label: 'X-Hook-Secret',
    where: 'Field X-Hook-Secret of the response when you create the webhook with the API of Asana',
  },
  handshakes: [
    {
      when: [{ at: 'header:x-hook-secret' }],
      verified: false,
      response: { status: 200, body: '', headers: { 'x-hook-secret': '{header:x-hook-secret}' } },
      note: 'Asana sent the secret with which it will sign. Save it, if you created this webhook at Asana.',
    },
  ],
  eventName: 'asana/{body:events.0.resource.resource_type}.{body:events.0.action}',
  setup: [
    'Save this webhook without a secret.',
    'POST to https://app.asana.com/api/1.0/webhooks with the resource to watch.',
    'target: {url}',
    'The response has the field X-Hook-Secret: paste it here. Requests before that are answered 401, and Asana repeats them.',
  ],
  // One event for each kind of change. Every eight hours Asana sends an empty list, to check whether the URL still responds.
  transform: `function transform(evt) {
  const kinds = Object.groupBy(evt.events, (one) => one.resource.resource_type + "." + one.action);
  return Object.entries(kinds).map(([kind, events]) => ({ name: "asana/" + kind, data: { events } }));
}
`,
  sample: {
    headers: { 'X-Hook-Signature': '5f2c8e1a7b3d9046c1e5f8a2b7d3c9045e1f6a8b2c7d3e9f405162738495a6b7' },
    body: {
      events: [
        {
          user: { gid: '1201', resource_type: 'user' },
          created_at: '2026-01-14T09:30:12.000Z',
          action: 'added',
          resource: { gid: '9003', resource_type: 'task', resource_subtype: 'default_task' },
          parent: { gid: '8001', resource_type: 'project' },
        },
      ],
    },
    eventName: 'asana/task.added',
  },
} satisfies PresetInput;
