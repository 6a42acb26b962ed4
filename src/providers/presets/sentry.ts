import type { PresetInput } from '../preset.ts';

export default {
  id: 'sentry',
  name: 'Sentry',
  docs: 'https://docs.sentry.io/integrations/integration-platform/webhooks/',
  // The header Sentry-Hook-Timestamp is not signed, so it proves no age.
  verification: { scheme: 'hmac', signature: { at: 'header:sentry-hook-signature' } },
  secret: {
    label: 'Client secret',
    where: 'Settings → Custom Integrations → your integration → Credentials → Client Secret',
  },
  eventName: 'sentry/{header:sentry-hook-resource}.{body:action}',
  deliveryId: 'header:request-id',
  setup: [
    'Open Settings → Custom Integrations → Create New Integration → Internal Integration.',
    'Webhook URL: {url}',
    'Give it read access to issues and events, choose the webhooks (issue, error, comment …), and save.',
    'Copy the client secret below Credentials, and paste it here.',
    'For alerts, turn on "Alert Rule Action", and add the integration as an action of each alert.',
  ],
  transform: `function transform(evt, headers) {
  return {
    name: "sentry/" + headers["Sentry-Hook-Resource"] + "." + evt.action,
    ts: headers["Sentry-Hook-Timestamp"] * 1000,    // seconds to milliseconds
    data: { ...evt.data, actor: evt.actor },
  };
}
`,
  sample: {
    headers: {
      'Request-ID': '4f0c3b2a1d9e48f7a6b5c4d3e2f1a0b9',
      'Sentry-Hook-Resource': 'issue',
      'Sentry-Hook-Timestamp': '1768383012',
      'Sentry-Hook-Signature': '9a1c5e7f3b2d4860f1e3d5c7b9a8f6e4d2c0b1a3f5e7d9c8b6a4f2e0d1c3b5a7',
    },
    body: {
      action: 'created',
      installation: { uuid: '7a485448-a9e2-4c85-8a3c-4f44175783c9' },
      data: {
        issue: {
          id: '1170820242',
          shortId: 'HARBOUR-7',
          title: 'RangeError: the tide table has no row for today',
          culprit: 'tideAt(src/tides.ts)',
          level: 'error',
          status: 'unresolved',
          platform: 'node',
          project: { id: '1', name: 'harbour', slug: 'harbour', platform: 'node' },
          count: '1',
          firstSeen: '2026-01-14T09:30:11.902Z',
          web_url: 'https://tides.sentry.io/issues/1170820242/',
        },
      },
      actor: { type: 'application', id: 'sentry', name: 'Sentry' },
    },
    eventName: 'sentry/issue.created',
  },
} satisfies PresetInput;
