import type { PresetInput } from '../preset.ts';

export default {
  id: 'shopify',
  name: 'Shopify',
  docs: 'https://shopify.dev/docs/apps/build/webhooks/verify-deliveries',
  verification: { scheme: 'hmac', encoding: 'base64', signature: { at: 'header:x-shopify-hmac-sha256' } },
  secret: {
    label: 'Client secret',
    where:
      'Dev Dashboard → your app → Settings → Client secret. For webhooks of the admin: Settings → Notifications → Webhooks',
  },
  eventName: 'shopify/{header:x-shopify-topic}',
  // X-Shopify-Event-Id is unsuitable: one action of a merchant can send several topics with the same ID.
  deliveryId: 'header:x-shopify-webhook-id',
  sent: {
    none: 'Shopify recommends to fetch the resources themselves.',
    docs: 'https://shopify.dev/docs/apps/build/webhooks/best-practices',
  },
  order: {
    key: 'request.body.admin_graphql_api_id',
    by: 'request.headers["x-shopify-triggered-at"]',
    docs: 'https://shopify.dev/docs/apps/build/webhooks/best-practices',
  },
  setup: [
    'For a store: Settings → Notifications → Webhooks → Create webhook. For an app: a subscription in shopify.app.toml.',
    'URL: {url}',
    'Format: JSON',
    'Copy the secret: below the list of webhooks, or the client secret of the app. Paste it here.',
  ],
  transform: `function transform(evt, headers) {
  return {
    name: "shopify/" + headers["X-Shopify-Topic"].replaceAll("/", "."),
    ts: Date.parse(headers["X-Shopify-Triggered-At"]),
    data: { shop: headers["X-Shopify-Shop-Domain"], payload: evt },
  };
}
`,
  sample: {
    headers: {
      'X-Shopify-Topic': 'orders/create',
      'X-Shopify-Shop-Domain': 'harbour-goods.myshopify.com',
      'X-Shopify-API-Version': '2026-01',
      'X-Shopify-Webhook-Id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      'X-Shopify-Event-Id': '98880550-7158-44d4-b7cd-2c97c8a091b5',
      'X-Shopify-Triggered-At': '2026-01-14T09:30:12.877041743Z',
      'X-Shopify-Hmac-Sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
    },
    body: {
      id: 5_678_901_234_567,
      admin_graphql_api_id: 'gid://shopify/Order/5678901234567',
      name: '#9999',
      email: 'ada@example.com',
      currency: 'EUR',
      total_price: '398.00',
      financial_status: 'paid',
      created_at: '2026-01-14T10:30:12+01:00',
      line_items: [
        { id: 866_550_311, title: 'Tide clock', quantity: 1, price: '199.00', sku: 'TC-01' },
        { id: 141_249_953, title: 'Barometer', quantity: 1, price: '199.00', sku: 'BM-04' },
      ],
    },
    eventName: 'shopify/orders.create',
  },
} satisfies PresetInput;
