import type { PresetInput } from '../preset.ts';

export default {
  id: 'hubspot',
  name: 'HubSpot',
  docs: 'https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation',
  verification: {
    scheme: 'hmac',
    encoding: 'base64',
    signature: { at: 'header:x-hubspot-signature-v3' },
    signed: '{method}{url}{body}{timestamp}',
    timestamp: { at: 'header:x-hubspot-request-timestamp', unit: 'ms', tolerance: 300 },
  },
  secret: {
    label: 'Client secret',
    where: 'Your app → Auth → App credentials → Client secret',
  },
  eventName: 'hubspot/{body:0.subscriptionType}',
  sent: {
    none: 'Its journal has subscriptions of its own, which are no webhooks.',
    docs: 'https://developers.hubspot.com/docs/api-reference/latest/webhooks-journal/guide',
  },
  setup: [
    'Open your app in HubSpot, then Webhooks.',
    'Target URL: {url}',
    'Create the subscriptions and activate them.',
    'Copy the client secret of the app and paste it here.',
  ],
  transform: `function transform(evt) {
  return [].concat(evt).map((one) => {
    // The ID of HubSpot alone is not unique; a retry has the same values.
    const ids = [one.portalId, one.subscriptionId, one.eventId, one.objectId, one.occurredAt];
    return {
      name: "hubspot/" + one.subscriptionType,
      id: ids.includes(undefined) ? undefined : ["hubspot", ...ids].join(":"),
      ts: one.occurredAt,
      data: one,
    };
  });
}
`,
  sample: {
    headers: {
      'Content-Type': 'application/json;charset=utf-8',
      'User-Agent': 'HubSpot Connect 2.0 (http://dev.hubspot.com/) (namespace: webhooks-nio-http-client)',
      'X-Hubspot-Signature-Version': 'v1',
      'X-Hubspot-Signature-V3': '5fR1p3cCk0bqjVYwYJgk7fR9e3mZ2v8x4n6t1q5s9uA=',
      'X-Hubspot-Request-Timestamp': '1768383012418',
    },
    body: [
      {
        eventId: 3_181_526_809,
        subscriptionId: 2_208_411,
        portalId: 44_209_113,
        appId: 1_160_452,
        occurredAt: 1_768_383_011_960,
        subscriptionType: 'contact.propertyChange',
        attemptNumber: 0,
        objectId: 746_251,
        propertyName: 'lifecyclestage',
        propertyValue: 'customer',
        changeSource: 'CRM_UI',
      },
    ],
    eventName: 'hubspot/contact.propertyChange',
  },
} satisfies PresetInput;
