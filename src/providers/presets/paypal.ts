import type { PresetInput } from '../preset.ts';

export default {
  id: 'paypal',
  name: 'PayPal',
  docs: 'https://developer.paypal.com/api/rest/webhooks/rest/',
  verification: { scheme: 'paypal' },
  secret: {
    label: 'None',
    where: 'PayPal signs with a certificate; give the webhook ID instead',
    needed: false,
  },
  settings: [
    {
      name: 'webhook_id',
      label: 'Webhook ID',
      description: 'the webhook ID, such as 8PT597110X687430L: Developer Dashboard → your app → Webhooks',
      required: true,
    },
  ],
  eventName: 'paypal/{body:event_type}',
  eventId: 'body:id',
  setup: [
    'Open the Developer Dashboard → Apps & Credentials and choose your app, in sandbox or live mode.',
    'Add a webhook with the URL {url}',
    'Choose the event types and save.',
    'Copy the webhook ID and enter it here.',
  ],
  transform: {
    name: '"paypal/" + evt.event_type',
    ts: 'Date.parse(evt.create_time)',
    data: '{ resource_type: evt.resource_type, summary: evt.summary, resource: evt.resource }',
  },
  sample: {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'PayPal/AUHD-214.0-58843024',
      'Paypal-Auth-Algo': 'SHA256withRSA',
      'Paypal-Cert-Url': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270',
      'Paypal-Transmission-Id': '3a8e1f20-f12b-11f0-9c4d-8b2a6d1e7f53',
      'Paypal-Transmission-Sig': 'kQ0pN2b8m5Zr7c1T…',
      'Paypal-Transmission-Time': '2026-01-14T09:30:12Z',
    },
    body: {
      id: 'WH-2F471936KL0957428-8YB20551TN7306914',
      event_version: '1.0',
      create_time: '2026-01-14T09:30:11.482Z',
      resource_type: 'capture',
      resource_version: '2.0',
      event_type: 'PAYMENT.CAPTURE.COMPLETED',
      summary: 'Payment completed for EUR 49.0 EUR',
      resource: {
        id: '5T902384GK117662B',
        status: 'COMPLETED',
        amount: { currency_code: 'EUR', value: '49.00' },
        custom_id: 'order-1042',
        final_capture: true,
        create_time: '2026-01-14T09:30:09Z',
      },
      links: [],
    },
    eventName: 'paypal/PAYMENT.CAPTURE.COMPLETED',
  },
} satisfies PresetInput;
