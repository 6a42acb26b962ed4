import type { PresetInput } from '../preset.ts';

export default {
  id: 'slack',
  name: 'Slack',
  docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  verification: {
    scheme: 'hmac',
    signature: { at: 'header:x-slack-signature', prefix: 'v0=' },
    signed: 'v0:{timestamp}:{body}',
    timestamp: { at: 'header:x-slack-request-timestamp', unit: 's', tolerance: 300 },
  },
  secret: {
    label: 'Signing secret',
    where: 'Your app → Basic Information → App Credentials → Signing Secret',
  },
  handshakes: [
    {
      when: [{ at: 'body:type', equals: 'url_verification' }],
      verified: true,
      response: { body: '{body:challenge}' },
    },
  ],
  eventName: 'slack/{body:event.type}',
  eventId: 'body:event_id',
  setup: [
    'Open api.slack.com/apps → your app → Basic Information. Copy the signing secret, paste it here, and save the webhook.',
    'In Event Subscriptions, enable events.',
    'Request URL: {url}',
    'Slack verifies the URL at once. Add the events under "Subscribe to bot events", and save.',
  ],
  transform: `function transform(evt) {
  if (evt.type !== "event_callback") return null;
  return {
    name: "slack/" + evt.event.type,
    ts: evt.event_time * 1000,    // seconds to milliseconds
    data: { team: evt.team_id, event: evt.event },
  };
}
`,
  sample: {
    headers: {
      'User-Agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'X-Slack-Request-Timestamp': '1768383012',
      'X-Slack-Signature': 'v0=7185df44c0d954e2dbf49be7b6e544c460fd7680b7124005fbfb04ffc003fc0f',
    },
    body: {
      type: 'event_callback',
      team_id: 'T123ABC456',
      api_app_id: 'A123ABC456',
      event: {
        type: 'app_mention',
        user: 'U061F7AUR',
        text: '<@U0LAN0Z89> is it high tide?',
        ts: '1768383012.000055',
        channel: 'C123ABC456',
      },
      event_id: 'Ev123ABC456',
      event_time: 1_768_383_012,
    },
    eventName: 'slack/app_mention',
  },
} satisfies PresetInput;
