import { jsonSample, type Template } from './template.ts';

export const linear: Template = {
  id: 'linear',
  label: 'Linear',
  hint: 'Creates events such as linear/issue.create and linear/comment.update. Verify them in a function with verifyWebhook.hmac.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    id: "linear-" + headers["Linear-Delivery"],
    name: "linear/" + evt.type.toLowerCase() + "." + evt.action,
    ts: evt.webhookTimestamp,
    data: {
      ...evt.data,
      raw,
      sig: headers["Linear-Signature"],
    },
  };
}
`,
  sample: jsonSample(
    {
      action: 'create',
      type: 'Issue',
      createdAt: '2026-01-14T09:30:12.000Z',
      data: {
        id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
        identifier: 'HAR-42',
        title: 'The tide table is a day off',
        priority: 2,
        team: { id: '72b2a2dc-6f4f-4423-9d34-24b5bd10634a', key: 'HAR' },
        state: { name: 'Todo', type: 'unstarted' },
      },
      url: 'https://linear.app/harbour/issue/HAR-42',
      organizationId: 'cbc1f6c1-0a1c-4d1e-9d0b-2f8c9f1d7f11',
      webhookTimestamp: 1_768_383_012_000,
    },
    {
      'Linear-Delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72',
      'Linear-Event': 'Issue',
      'Linear-Signature': '766e1d90a96e2f5ecec342a99c5552999dd95d49250171b902d703fd674f5086',
    },
  ),
};
