import type { PresetInput } from '../preset.ts';

export default {
  id: 'adyen',
  name: 'Adyen',
  docs: 'https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures',
  verification: { scheme: 'adyen' },
  secret: {
    label: 'HMAC key',
    where: 'Customer Area → Developers → Webhooks → your webhook → Security → HMAC key → Generate',
    example: '64 hexadecimal digits',
    pattern: '^[0-9A-Fa-f]{64}$',
  },
  eventName: 'adyen/{body:notificationItems.0.NotificationRequestItem.eventCode}',
  // Adyen repeats a notification with the same reference and code; a later result differs in "success".
  eventId:
    '{body:notificationItems.0.NotificationRequestItem.eventCode}:{body:notificationItems.0.NotificationRequestItem.pspReference}:{body:notificationItems.0.NotificationRequestItem.success}',
  setup: [
    'Open the Customer Area → Developers → Webhooks and create a "Standard webhook".',
    'URL: {url}, method JSON',
    'Under Security generate an HMAC key, copy it and paste it here.',
    'Save the webhook. Adyen takes a few minutes until it signs with a new key.',
  ],
  transform: `function transform(evt) {
  return evt.notificationItems.map(({ NotificationRequestItem: item }) => {
    const { hmacSignature, ...additionalData } = item.additionalData || {};
    return {
      name: "adyen/" + item.eventCode,
      ts: Date.parse(item.eventDate),
      data: { live: evt.live === "true", ...item, additionalData },
    };
  });
}
`,
  sample: {
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Adyen HttpClient 1.0' },
    body: {
      live: 'false',
      notificationItems: [
        {
          NotificationRequestItem: {
            additionalData: {
              cardSummary: '1142',
              expiryDate: '03/2030',
              hmacSignature: 'iJr6yqBUDEbPmEH7s9K0Ywn4cUX3v9l2d8Qp1oRz5tM=',
            },
            amount: { currency: 'EUR', value: 4_900 },
            eventCode: 'AUTHORISATION',
            eventDate: '2026-01-14T10:30:12+01:00',
            merchantAccountCode: 'TeaHouseECOM',
            merchantReference: 'order-1042',
            operations: ['CANCEL', 'CAPTURE', 'REFUND'],
            paymentMethod: 'visa',
            pspReference: 'NC6HT9CRT65ZGN82',
            reason: '083152:1142:03/2030',
            success: 'true',
          },
        },
      ],
    },
    eventName: 'adyen/AUTHORISATION',
  },
} satisfies PresetInput;
