/** GitLab with a secret token, which all its versions have; gitlab-signed.ts has the signing token of newer versions. */
import type { PresetInput } from '../preset.ts';

export default {
  id: 'gitlab',
  name: 'GitLab',
  docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
  verification: { scheme: 'token', token: { at: 'header:x-gitlab-token' } },
  secret: {
    label: 'Secret token',
    where: 'You choose it: the field Secret token of the webhook',
  },
  eventName: 'gitlab/{body:object_kind}.{body:object_attributes.action}',
  // X-Gitlab-Event-UUID is unsuitable: webhooks that trigger each other share it.
  deliveryId: 'header:idempotency-key',
  setup: [
    'Open the project or group → Settings → Webhooks → Add new webhook.',
    'URL: {url}',
    'Secret token: a long random text. Paste the same one here.',
    'Choose the triggers, and leave SSL verification on.',
  ],
  transform: `function transform(evt) {
  const kind = evt.object_kind ?? evt.event_name;
  const action = evt.object_attributes?.action;
  return {
    name: "gitlab/" + (action ? kind + "." + action : kind),
    data: evt,
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'GitLab/18.6.0',
      'X-Gitlab-Event': 'Merge Request Hook',
      'X-Gitlab-Token': 'a-long-random-text',
      'X-Gitlab-Instance': 'https://gitlab.example.com',
      'X-Gitlab-Webhook-UUID': '5f1c2f0e-2c8a-4b6b-9a57-60b2f8d3c3a1',
      'X-Gitlab-Event-UUID': '13792a34-cac6-4fda-95a8-c58e00a3954e',
      'Idempotency-Key': 'f5e57ab5-0f7e-4f0f-a4e7-2e2c0f0c6a31',
    },
    body: {
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user: { id: 7, name: 'Ada Byron', username: 'ada' },
      project: {
        id: 42,
        name: 'Harbour',
        path_with_namespace: 'tides/harbour',
        web_url: 'https://gitlab.example.com/tides/harbour',
        default_branch: 'main',
      },
      object_attributes: {
        id: 9001,
        iid: 12,
        title: 'Keep the tide table in one place',
        state: 'opened',
        action: 'open',
        source_branch: 'tide-table',
        target_branch: 'main',
        url: 'https://gitlab.example.com/tides/harbour/-/merge_requests/12',
        created_at: '2026-01-14 09:30:12 UTC',
      },
      labels: [],
    },
    eventName: 'gitlab/merge_request.open',
  },
} satisfies PresetInput;
