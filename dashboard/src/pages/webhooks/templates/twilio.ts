import type { Template } from './template.ts';

export const twilio: Template = {
  id: 'twilio',
  label: 'Twilio messages (form)',
  hint: 'Form-encoded: each field is a list of strings, of which the template uses the first.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const first = (field) => (evt[field] || [])[0];
  return {
    id: "twilio-" + first("MessageSid") + "-" + (first("SmsStatus") || "received"),
    name: "twilio/message." + (first("SmsStatus") || "received"),
    data: {
      sid: first("MessageSid"),
      from: first("From"),
      to: first("To"),
      body: first("Body"),
      raw,
      sig: headers["X-Twilio-Signature"],
    },
  };
}
`,
  sample: {
    body: 'ToCountry=DE&MessageSid=SM1f0e8ae6ade43cb3c0ce4525424e404f&SmsStatus=received&Body=When+is+high+tide%3F&NumSegments=1&From=%2B491701234567&To=%2B4915735987654&AccountSid=AC53a9c6f2e0f04ab1b6e8d3f0c1d2e3f4&ApiVersion=2010-04-01',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'User-Agent': 'TwilioProxy/1.1',
      'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
    },
    query: '',
  },
};
