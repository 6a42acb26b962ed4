import type { PresetInput } from '../preset.ts';

export default {
  id: 'bitbucket',
  name: 'Bitbucket',
  docs: 'https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/',
  verification: { scheme: 'hmac', signature: { at: 'header:x-hub-signature', prefix: 'sha256=' } },
  secret: {
    label: 'Secret',
    where: 'You choose or generate it: the field Secret of the webhook',
  },
  eventName: 'bitbucket/{header:x-event-key}',
  deliveryId: 'header:x-request-uuid',
  setup: [
    'Open the repository or workspace → Settings → Webhooks → Add webhook.',
    'URL: {url}',
    'Secret: generate one, and paste it here.',
    'Choose the triggers.',
  ],
  transform: `function transform(evt, headers) {
  return {
    name: "bitbucket/" + headers["X-Event-Key"].replaceAll(":", "."),
    data: evt,
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'Bitbucket-Webhooks/2.0',
      'X-Event-Key': 'pullrequest:created',
      'X-Hook-UUID': '0b8f4a9e-0f5a-4c4b-8f6a-1f0f6d2b7c11',
      'X-Request-UUID': '6f2c1f0d-3a9b-4f4b-9a0e-5c2d7f8e9a01',
      'X-Attempt-Number': '1',
      'X-Hub-Signature': 'sha256=5f0c3a7b1e9d4c2a8b6f0e1d3c5a7b9f2e4d6c8a0b1f3e5d7c9a2b4f6e8d0c1a',
    },
    body: {
      pullrequest: {
        id: 31,
        title: 'Keep the tide table in one place',
        state: 'OPEN',
        source: { branch: { name: 'tide-table' }, commit: { hash: '6dcb09b5b578' } },
        destination: { branch: { name: 'main' }, commit: { hash: '9049f1265b7d' } },
        links: { html: { href: 'https://bitbucket.org/tides/harbour/pull-requests/31' } },
        created_on: '2026-01-14T09:30:12.418213+00:00',
      },
      repository: { full_name: 'tides/harbour', uuid: '{a4c7b2f0-5d1e-4e39-8f60-2b9d1c3e5a77}', is_private: true },
      actor: { display_name: 'Ada Byron', nickname: 'ada', type: 'user' },
    },
    eventName: 'bitbucket/pullrequest.created',
  },
} satisfies PresetInput;
