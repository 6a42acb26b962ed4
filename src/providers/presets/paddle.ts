import type { PresetInput } from '../preset.ts';

export default {
  id: 'paddle',
  name: 'Paddle',
  docs: 'https://developer.paddle.com/webhooks/signature-verification',
  verification: {
    scheme: 'hmac',
    signature: { at: 'header:paddle-signature', separator: ';', prefix: 'h1=' },
    signed: '{timestamp}:{body}',
    // Paddle's libraries allow 5 seconds. Requests replayed within this time have the same deduplication ID and are dropped.
    timestamp: { at: 'header:paddle-signature', separator: ';', prefix: 'ts=', unit: 's', tolerance: 300 },
  },
  secret: {
    label: 'Secret key',
    where: 'Developer tools → Notifications → your destination → Secret key',
    example: 'pdl_ntfset_…',
    pattern: '^pdl_ntfset_\\S+$',
  },
  eventName: 'paddle/{body:event_type}',
  eventId: 'body:event_id',
  sent: {
    docs: 'https://developer.paddle.com/api-reference/notifications/list-notifications',
    api: 'https://api.paddle.com',
    sandbox: { keyPrefix: 'pdl_sdbx_', api: 'https://sandbox-api.paddle.com' },
    key: {
      label: 'API key',
      where: 'Developer tools → Authentication → New API key, with the permission notification.read',
      pattern: '^pdl_(live|sdbx)_apikey_\\S+$',
    },
    account: [
      {
        name: 'destination',
        label: 'Notification destination ID',
        description: 'Developer tools → Notifications → your destination, such as ntfset_01gkpjp8bkm3tm53kdgkx6sms7',
        pattern: 'ntfset_\\w{1,50}',
      },
    ],
    sources: [{ list: '/notifications', item: '/notifications/{ref}', redeliver: '/notifications/{ref}/replay' }],
    query: { per_page: '200', notification_setting_id: '{destination}', from: '{from:iso}', to: '{to:iso}' },
    pages: { by: 'last-item', parameter: 'after', id: 'id', more: 'meta.pagination.has_more' },
    items: 'data',
    id: 'payload.event_id',
    ref: 'id',
    time: { at: 'occurred_at', unit: 'iso' },
    idPattern: 'evt_\\w{1,50}',
    request: { body: 'data.payload', headers: { 'content-type': 'application/json' } },
    keptDays: 90,
  },
  order: {
    key: 'request.body.data.id',
    by: 'request.body.occurred_at',
    docs: 'https://developer.paddle.com/webhooks/respond-to-webhooks',
  },
  setup: [
    'Open Developer tools → Notifications → New destination.',
    'Notification type: URL',
    'URL: {url}',
    'Choose the events, and save.',
    'Edit the destination, copy its secret key (pdl_ntfset_…), and paste it here.',
  ],
  transform: { name: '"paddle/" + evt.event_type', ts: 'Date.parse(evt.occurred_at)', data: 'evt.data' },
  sample: {
    headers: {
      'User-Agent': 'Paddle',
      'Paddle-Version': '1',
      'Paddle-Signature': 'ts=1768383012;h1=b85a1a5dff5306b8effac344e716fe33eb66f2a857d930755cc9f0705940f50f',
    },
    body: {
      event_id: 'evt_01kexg5tq3v7fzq5z0m8y2c4wd',
      event_type: 'transaction.completed',
      occurred_at: '2026-01-14T09:30:12.418213Z',
      notification_id: 'ntf_01kexg5v0h2k9x6r3s1t7n4b8e',
      data: {
        id: 'txn_01kexg4y8m5q2w9c7v3z6h1d0f',
        status: 'completed',
        customer_id: 'ctm_01kexfzr6t4b1n8y5s2g9m3k7c',
        currency_code: 'EUR',
        items: [{ price: { id: 'pri_01kexfzw0p7d3h6j9q2r5v8x1a' }, quantity: 1 }],
        details: { totals: { subtotal: '39800', tax: '7562', total: '47362', currency_code: 'EUR' } },
      },
    },
    eventName: 'paddle/transaction.completed',
  },
} satisfies PresetInput;
