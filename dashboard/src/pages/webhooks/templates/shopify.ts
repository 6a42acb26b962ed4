import { jsonSample, type Template } from './template.ts';

export const shopify: Template = {
  id: 'shopify',
  label: 'Shopify',
  hint: 'Creates events named after the topic, such as shopify/orders.create. Verify them with verifyWebhook.hmac, encoding base64.',
  transform: `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    id: "shopify-" + headers["X-Shopify-Webhook-Id"],
    name: "shopify/" + headers["X-Shopify-Topic"].replace("/", "."),
    data: {
      shop: headers["X-Shopify-Shop-Domain"],
      payload: evt,
      raw,
      sig: headers["X-Shopify-Hmac-Sha256"],
    },
  };
}
`,
  sample: jsonSample(
    {
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
    {
      'X-Shopify-Topic': 'orders/create',
      'X-Shopify-Shop-Domain': 'harbour-goods.myshopify.com',
      'X-Shopify-Webhook-Id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      'X-Shopify-Hmac-Sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
    },
  ),
};
