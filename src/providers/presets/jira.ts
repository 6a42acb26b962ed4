import type { PresetInput } from '../preset.ts';

export default {
  id: 'jira',
  name: 'Jira',
  docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
  verification: { scheme: 'hmac', signature: { at: 'header:x-hub-signature', prefix: 'sha256=' } },
  secret: {
    label: 'Secret',
    where:
      'You choose or generate it: the field Secret of the webhook. Webhooks that Connect or OAuth apps register are not signed',
  },
  eventName: 'jira/{body:webhookEvent}',
  deliveryId: 'header:x-atlassian-webhook-identifier',
  setup: [
    'As an administrator of Jira Cloud, open Settings → System → WebHooks → Create a WebHook.',
    'URL: {url}',
    'Secret: generate one, and paste it here.',
    'Choose the events, and leave "Exclude body" off.',
  ],
  transform: { name: '"jira/" + evt.webhookEvent.replace("jira:", "")', ts: 'evt.timestamp', data: 'evt' },
  sample: {
    headers: {
      'User-Agent': 'Atlassian Webhook HTTP Client',
      'X-Atlassian-Webhook-Identifier': '4b0c7a2e9d5f1836',
      'X-Atlassian-Webhook-Flow': 'Primary',
      'X-Hub-Signature': 'sha256=be5e7c3c14697c77f85c2b73ca95f3095a6bec2cdafd334d97c90ba62a490ac5',
    },
    body: {
      timestamp: 1_768_383_012_418,
      webhookEvent: 'jira:issue_updated',
      issue_event_type_name: 'issue_generic',
      user: { accountId: '5b10a2844c20165700ede21g', displayName: 'Ada Byron', accountType: 'atlassian' },
      issue: {
        id: '10042',
        key: 'HAR-42',
        self: 'https://harbour.atlassian.net/rest/api/2/issue/10042',
        fields: {
          summary: 'The tide table is a day off',
          status: { name: 'In Progress' },
          issuetype: { name: 'Bug' },
          priority: { name: 'High' },
          project: { key: 'HAR', name: 'Harbour' },
        },
      },
      changelog: {
        id: '10107',
        items: [{ field: 'status', fieldtype: 'jira', fromString: 'To Do', toString: 'In Progress' }],
      },
    },
    eventName: 'jira/issue_updated',
  },
} satisfies PresetInput;
