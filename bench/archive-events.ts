/** The events of the measurements of the archive: ten names, and data that differ, since payloads that are all the same compress too well. */

/** Bytes of a payload as it is stored. */
export const PAYLOAD_BYTES = 213;
export const EVENT_NAMES = [
  'shop/order.placed',
  'shop/order.paid',
  'shop/order.shipped',
  'shop/cart.updated',
  'shop/cart.emptied',
  'user/signed.up',
  'user/signed.in',
  'user/deleted',
  'mail/sent',
  'mail/bounced',
] as const;
/** As long as all of this century. */
const TS = 1_800_000_000_000;
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY'];

/** Spreads numbers, so that neighbors differ: https://en.wikipedia.org/wiki/Linear_congruential_generator */
function spread(n: number): number {
  return (Math.imul(n, 1_664_525) + 1_013_904_223) >>> 0;
}

/** The customer of the nth event, of all of them. */
export function customerOf(n: number): string {
  return `c_${String(n).padStart(8, '0')}`;
}

/** The nth event: with `ts`, which the service adds, its JSON has PAYLOAD_BYTES. */
export function archiveEvent(n: number, name: string = EVENT_NAMES[n % EVENT_NAMES.length] as string) {
  const [a, b] = [spread(n), spread(n ^ 0x5bd1e995)];
  const data = {
    order: a.toString(36).padStart(7, '0'),
    total: (b % 100_000) / 100,
    currency: CURRENCIES[a % CURRENCIES.length],
    items: [{ sku: `tea-${a % 977}`, n: 1 + (b % 9) }],
    customer: { id: customerOf(n), email: `${b.toString(36)}@example.com` },
  };
  const bytes = JSON.stringify({ name, data: { ...data, note: '' }, ts: TS }).length;
  return { name, data: { ...data, note: randomText(n, PAYLOAD_BYTES - bytes) } };
}

/** Text that does not repeat. */
export function randomText(n: number, length: number): string {
  let text = '';
  for (let seed = spread(n); text.length < length; seed = spread(seed)) text += seed.toString(36);
  return text.slice(0, Math.max(0, length));
}
