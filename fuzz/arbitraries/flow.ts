/** Flow control of functions: mostly valid, so that the rest of a registration is reached. */
import fc from 'fast-check';
import { number, value, word } from './hostile.ts';

const key = fc.oneof(fc.constantFrom('event.data.id', '"all"', 'event.data.', ''), word);
const period = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('1s', '1m', '24h') },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom('0s', '1ms', '8d', '-1s'), word) },
);
const limit = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom(0, -1, 2 ** 53), number) },
);
const scope = fc.constantFrom('fn', 'env', 'account', 'Fn', 'none');
const concurrency = fc.record({ limit, key, scope }, { requiredKeys: ['limit'] });
const concurrencies = fc.array(concurrency, { maxLength: 3 });
const limited = { requiredKeys: ['limit', 'period'] as ['limit', 'period'] };

const FIELDS: Record<string, fc.Arbitrary<unknown>> = {
  concurrency: fc.oneof(limit, concurrency, concurrencies, fc.record({ fn: concurrencies, step: concurrencies })),
  throttle: fc.record({ limit, period, burst: limit, key }, limited),
  rateLimit: fc.record({ limit, period, key }, limited),
  debounce: fc.record({ period, timeout: period, key }, { requiredKeys: ['period'] }),
  batchEvents: fc.record({ maxSize: limit, timeout: period, key, if: key }, { requiredKeys: ['maxSize', 'timeout'] }),
  singleton: fc.record({ mode: fc.constantFrom('skip', 'cancel', 'none'), key }, { requiredKeys: ['mode'] }),
  order: fc.record(
    {
      key,
      by: key,
      window: period,
      onStale: fc.constantFrom('run', 'skip', 'none'),
      onFailure: fc.constantFrom('skip', 'block', 'park', 'none'),
      name: word,
    },
    { requiredKeys: ['key'] },
  ),
  priority: fc.record({ run: key }),
  idempotency: key,
  timeouts: fc.record({ start: period, finish: period }, { requiredKeys: [] }),
};

/** One field, or none. */
export const flow: fc.Arbitrary<object> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  ...Object.entries(FIELDS).map(([field, sent]) => ({
    weight: 1,
    arbitrary: fc
      .oneof({ weight: 9, arbitrary: sent }, { weight: 1, arbitrary: value })
      .map((one) => ({ [field]: one })),
  })),
);
