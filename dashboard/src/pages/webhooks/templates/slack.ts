import { jsonSample, type Template } from './template.ts';

export const slack: Template = {
  id: 'slack',
  label: 'Slack events',
  hint: 'Creates events such as slack/message and slack/app_mention. Slack’s URL verification request creates none.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  if (evt.type !== "event_callback") return null;    // such as url_verification
  return {
    id: evt.event_id,
    name: "slack/" + evt.event.type,
    ts: evt.event_time * 1000,
    data: {
      team: evt.team_id,
      event: evt.event,
      raw,
      sig: headers["X-Slack-Signature"],
      timestamp: headers["X-Slack-Request-Timestamp"],
    },
  };
}
`,
  sample: jsonSample(
    {
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
    {
      'X-Slack-Request-Timestamp': '1768383012',
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  ),
};
