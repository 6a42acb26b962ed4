import type { PresetInput } from '../preset.ts';

export default {
  id: 'twilio',
  name: 'Twilio',
  docs: 'https://www.twilio.com/docs/usage/security#validating-requests',
  verification: { scheme: 'twilio' },
  secret: {
    label: 'Auth token',
    where: 'Console → Account Dashboard → Account Info → Auth Token',
    example: '32 hexadecimal digits',
    pattern: '^[0-9a-f]{32}$',
  },
  methods: ['POST', 'GET'],
  eventName: 'twilio/message.{form:SmsStatus}',
  deliveryId: 'header:i-twilio-idempotency-token',
  sent: {
    none: 'Twilio lists messages and calls, not the requests that it sent.',
    docs: 'https://www.twilio.com/docs/usage/webhooks',
  },
  setup: [
    'Open the Console and choose what calls the webhook: a phone number, a messaging service or a status callback.',
    'Set its webhook to {url} with HTTP POST.',
    'Copy the auth token of the account and paste it here.',
  ],
  transform: `function transform(evt) {
  const data = {};
  for (const name in evt) data[name] = Array.isArray(evt[name]) ? evt[name][0] : evt[name];
  const kind = data.CallSid ? "call" : "message";
  const status = data.CallStatus || data.MessageStatus || data.SmsStatus || "received";
  return {
    events: { name: "twilio/" + kind + "." + status, data },
    // Twilio reads the response as TwiML; this one does nothing.
    response: { headers: { "content-type": "text/xml" }, body: "<Response/>" },
  };
}
`,
  sample: {
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
      'User-Agent': 'TwilioProxy/1.1',
      'I-Twilio-Idempotency-Token': '2f1b7c1e-8f5e-4f0e-9c62-3a1c0b6f7d55',
      'X-Twilio-Signature': 'Q9pJ1qfXb0m0b8cYhJqg3yqk3mE=',
    },
    body: 'ToCountry=DE&SmsMessageSid=SM6b1f0e2c4d5a69788796a5b4c3d2e1f0&NumMedia=0&SmsSid=SM6b1f0e2c4d5a69788796a5b4c3d2e1f0&SmsStatus=received&Body=Where+is+my+order%3F&To=%2B4915735982201&NumSegments=1&MessageSid=SM6b1f0e2c4d5a69788796a5b4c3d2e1f0&AccountSid=AC0f1e2d3c4b5a69788796a5b4c3d2e1f0&From=%2B4917612345678&ApiVersion=2010-04-01',
    eventName: 'twilio/message.received',
  },
} satisfies PresetInput;
