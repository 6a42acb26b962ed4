import type { PresetInput } from '../preset.ts';

export default {
  id: 'okta',
  name: 'Okta',
  docs: 'https://developer.okta.com/docs/concepts/event-hooks/',
  verification: { scheme: 'token', token: { at: 'header:authorization' } },
  secret: {
    label: 'Authentication secret',
    where: 'Your choice: the authentication secret of the event hook, whose authentication field is Authorization',
  },
  methods: ['GET', 'POST'],
  handshakes: [
    {
      method: 'GET',
      when: [{ at: 'header:x-okta-verification-challenge' }],
      verified: false,
      response: { type: 'application/json', body: { verification: '{header:x-okta-verification-challenge}' } },
      note: 'Okta has verified the URL.',
    },
  ],
  eventName: 'okta/{body:data.events.0.eventType}',
  eventId: 'body:eventId',
  setup: [
    'In the Admin Console, open Workflow → Event Hooks and click "Create Event Hook".',
    'Endpoint URL: {url}',
    'Authentication field: Authorization. Authentication secret: a long random text, which you also paste here.',
    'Choose the events, save, then click "Verify".',
  ],
  // One request may have several events: one for each type.
  transform: `function transform(evt) {
  const kinds = Object.groupBy(evt.data.events, (one) => one.eventType);
  const ts = Date.parse(evt.eventTime);
  return Object.entries(kinds).map(([kind, events]) => ({ name: "okta/" + kind, ts, data: { events } }));
}
`,
  sample: {
    headers: { Authorization: 'a-long-random-text-of-yours' },
    body: {
      eventType: 'com.okta.event_hook',
      eventTypeVersion: '1.0',
      cloudEventsVersion: '0.1',
      source: 'https://example.okta.com/api/v1/eventHooks/who1bvjcaCQzBKuYp0g4',
      eventId: 'b5a188b9-5ece-4636-b041-482ffda96311',
      data: {
        events: [
          {
            uuid: 'd9d27a0f-7dd1-11f0-8a0d-7b1f6a3f7a0d',
            published: '2026-01-14T09:30:12.123Z',
            eventType: 'user.lifecycle.create',
            version: '0',
            displayMessage: 'Create okta user',
            severity: 'INFO',
            actor: {
              id: '00uttidj01jqL21aM1d6',
              type: 'User',
              alternateId: 'ada@example.com',
              displayName: 'Ada Lovelace',
            },
            outcome: { result: 'SUCCESS' },
            target: [
              {
                id: '00ub0ttoyz062NeVa0g4',
                type: 'User',
                alternateId: 'grace@example.com',
                displayName: 'Grace Hopper',
              },
            ],
          },
        ],
      },
      eventTime: '2026-01-14T09:30:12.999Z',
      contentType: 'application/json',
    },
    eventName: 'okta/user.lifecycle.create',
  },
} satisfies PresetInput;
