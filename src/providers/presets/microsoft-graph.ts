import type { PresetInput } from '../preset.ts';

export default {
  id: 'microsoft-graph',
  name: 'Microsoft Graph',
  docs: 'https://learn.microsoft.com/graph/change-notifications-delivery-webhooks',
  // Graph signs nothing. Each notification repeats the text that the subscription was created with.
  verification: { scheme: 'token', token: { at: 'body:value.*.clientState' } },
  secret: {
    label: 'clientState',
    where: 'Your choice, up to 128 characters: the property clientState of the subscriptions that you create',
    pattern: '^.{8,128}$',
  },
  handshakes: [
    {
      when: [{ at: 'query:validationToken' }],
      verified: false,
      response: { body: '{query:validationToken}' },
      note: 'Microsoft Graph has validated the URL.',
    },
  ],
  eventName: 'microsoft-graph/{body:value.0.changeType}',
  setup: [
    'Choose a clientState (the secret here) and save this webhook.',
    'POST to https://graph.microsoft.com/v1.0/subscriptions with resource, changeType and expirationDateTime.',
    'notificationUrl (and lifecycleNotificationUrl): {url}',
    'clientState: the text that you paste here.',
    'Renew the subscription before it expires; each renewal and each subscription uses the same clientState.',
  ],
  // One request may have several notifications: one event for each kind.
  transform: `function transform(evt) {
  const items = evt.value.map(({ clientState, ...item }) => item);
  const kinds = Object.groupBy(items, (item) => item.changeType ?? item.lifecycleEvent);
  return Object.entries(kinds).map(([kind, value]) => ({ name: "microsoft-graph/" + kind, data: { value } }));
}
`,
  sample: {
    headers: {},
    body: {
      value: [
        {
          subscriptionId: '9d2c1b3a-4e5f-4a6b-8c7d-0e1f2a3b4c5d',
          subscriptionExpirationDateTime: '2026-01-16T11:00:00Z',
          changeType: 'created',
          resource: 'Users/5f0c7b1e-2f6b-4c52-9d0c-3a1b2c3d4e5f/Messages/AAMkAGUwNjQ4ZjIxLTQ3Y2YtNDViMi1iZjc4',
          resourceData: {
            '@odata.type': '#Microsoft.Graph.Message',
            '@odata.id': 'Users/5f0c7b1e-2f6b-4c52-9d0c-3a1b2c3d4e5f/Messages/AAMkAGUwNjQ4ZjIxLTQ3Y2YtNDViMi1iZjc4',
            id: 'AAMkAGUwNjQ4ZjIxLTQ3Y2YtNDViMi1iZjc4',
          },
          clientState: 'chosen-by-you-2f8c',
          tenantId: '84bd8158-6d4d-4958-8b9f-9d6445542f95',
        },
      ],
    },
    eventName: 'microsoft-graph/created',
  },
} satisfies PresetInput;
