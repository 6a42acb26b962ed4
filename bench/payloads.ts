/** The payloads of all requests, and the transform of the webhook. */
const DATA = {
  orderId: 'A-1001',
  total: 120.5,
  currency: 'EUR',
  items: [
    { sku: 'tea-1', n: 2 },
    { sku: 'cup-7', n: 1 },
  ],
  customer: { id: 'c-77', email: 'someone@example.com' },
};

export const BATCH_SIZE = 100;

/** An event of about 200 bytes. */
export function eventOf(name: string): object {
  return { name, data: DATA };
}

export function batchOf(name: string): object[] {
  return Array.from({ length: BATCH_SIZE }, () => eventOf(name));
}

/** A webhook request of about 150 bytes. */
export const WEBHOOK_REQUEST = {
  action: 'opened',
  number: 7,
  repository: { full_name: 'ada/shop' },
  sender: { login: 'ada', id: 77 },
  labels: ['tea', 'cups'],
};

/** A header of every webhook request. The transform reads it. */
export const KIND = { 'x-kind': 'hook' };

export const TRANSFORM =
  'function transform(evt, headers) { return { name: "bench/" + headers["X-Kind"], data: evt }; }';
