import type { PresetInput } from '../preset.ts';

export default {
  id: 'zoom',
  name: 'Zoom',
  docs: 'https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events',
  verification: {
    scheme: 'hmac',
    signature: { at: 'header:x-zm-signature', prefix: 'v0=' },
    signed: 'v0:{timestamp}:{body}',
    timestamp: { at: 'header:x-zm-request-timestamp', unit: 's', tolerance: 300 },
  },
  secret: {
    label: 'Secret token',
    where: 'Zoom App Marketplace → Manage → your app → Features → Access → Secret Token',
  },
  handshakes: [
    {
      when: [{ at: 'body:event', equals: 'endpoint.url_validation' }],
      verified: true,
      response: {
        type: 'application/json',
        body: {
          plainToken: '{body:payload.plainToken}',
          encryptedToken: '{hmac:sha256:hex:body:payload.plainToken}',
        },
      },
      note: 'Zoom has validated the URL. It does so again every 72 hours.',
    },
  ],
  eventName: 'zoom/{body:event}',
  setup: [
    'Open your app in the Zoom App Marketplace, then Features → Access.',
    'Copy the secret token and paste it here, and save this webhook.',
    'Turn on "Event Subscription" and add one. Event notification endpoint URL: {url}',
    'Click "Validate", choose the events and save.',
  ],
  transform: `function transform(evt) {
  return { name: "zoom/" + evt.event, ts: evt.event_ts, data: evt.payload };
}
`,
  sample: {
    headers: {
      'User-Agent': 'Zoom Marketplace/1.0a',
      'X-Zm-Request-Timestamp': '1768383012',
      'X-Zm-Signature': 'v0=9b1c8a0fd3c7e6b5a49382716051403f2e1d0c9b8a7968574635241302f1e0df',
    },
    body: {
      event: 'meeting.started',
      event_ts: 1_768_383_012_417,
      payload: {
        account_id: 'AAAAAABBBB',
        object: {
          id: '1234567890',
          uuid: '4444AAAiAAAAAiAiAiiAii==',
          host_id: 'x1yCzABCDEfg23HiJKl4mN',
          topic: 'Weekly review',
          type: 2,
          start_time: '2026-01-14T09:30:12Z',
          timezone: 'Europe/Berlin',
          duration: 30,
        },
      },
    },
    eventName: 'zoom/meeting.started',
  },
} satisfies PresetInput;
