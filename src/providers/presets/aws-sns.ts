import type { PresetInput } from '../preset.ts';

export default {
  id: 'aws-sns',
  name: 'Amazon SNS',
  docs: 'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
  verification: { scheme: 'aws-sns' },
  secret: {
    label: 'None',
    where:
      'Amazon SNS signs with a certificate; give the ARN of the topic, since any AWS account can send signed messages',
    needed: false,
  },
  settings: [
    {
      name: 'topic_arn',
      label: 'Topic ARN',
      description:
        'the ARN of the topic, such as arn:aws:sns:eu-central-1:123456789012:orders; messages of others are rejected',
      required: true,
    },
  ],
  handshakes: [
    {
      when: [{ at: 'body:Type', equals: 'SubscriptionConfirmation' }],
      verified: true,
      confirm: { at: 'body:SubscribeURL', hosts: ['amazonaws.com', 'amazonaws.com.cn'] },
      response: { body: '' },
      note: 'Amazon SNS asked for a confirmation of the subscription, and got it.',
    },
  ],
  eventName: 'aws-sns/notification',
  eventId: 'body:MessageId',
  setup: [
    'Open the Amazon SNS console and choose the topic. Copy its ARN and enter it here.',
    'Create a subscription with the protocol HTTPS and the endpoint {url}',
    'Leave "raw message delivery" switched off: it would leave out the signature.',
    'The subscription is confirmed within seconds by itself.',
  ],
  transform: `function transform(evt) {
  let message = evt.Message;
  try {
    message = JSON.parse(message);
  } catch {}    // a text
  return {
    name: evt.Type === "Notification" ? "aws-sns/notification" : "aws-sns/" + evt.Type,
    ts: Date.parse(evt.Timestamp),
    data: { topic: evt.TopicArn, subject: evt.Subject, message, attributes: evt.MessageAttributes },
  };
}
`,
  sample: {
    headers: {
      'Content-Type': 'text/plain; charset=UTF-8',
      'User-Agent': 'Amazon Simple Notification Service Agent',
      'X-Amz-Sns-Message-Type': 'Notification',
      'X-Amz-Sns-Message-Id': 'c5a1f2d4-0b6e-5e7f-9a3b-aa8c1d2e3f40',
      'X-Amz-Sns-Topic-Arn': 'arn:aws:sns:eu-central-1:123456789012:orders',
    },
    body: {
      Type: 'Notification',
      MessageId: 'c5a1f2d4-0b6e-5e7f-9a3b-aa8c1d2e3f40',
      TopicArn: 'arn:aws:sns:eu-central-1:123456789012:orders',
      Subject: 'Order paid',
      Message: '{"order":1042,"status":"paid"}',
      Timestamp: '2026-01-14T09:30:12.418Z',
      SignatureVersion: '2',
      Signature: 'd2hlcmUgdGhlIHNpZ25hdHVyZSBpcw==',
      SigningCertURL:
        'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-7c1f0e2d3b4a59687f6e5d4c3b2a1908.pem',
      UnsubscribeURL:
        'https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:eu-central-1:123456789012:orders:4f1d2c3b-5a69-4788-96a5-b4c3d2e1f001',
    },
    eventName: 'aws-sns/notification',
  },
} satisfies PresetInput;
