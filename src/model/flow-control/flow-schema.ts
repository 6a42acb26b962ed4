/** Shapes and ranges of the flow control of a function (docs/protocol.md#flow-control). */
import { z } from 'zod';
import type { FunctionLimits } from '../../config.ts';
import { DAY_MS, HOUR_MS, MAX_WAIT_MS, SECOND_MS } from '../values/time.ts';
import { concurrencySchema } from './concurrency-schema.ts';
import { expression, integer, oneOf, period } from './fields.ts';

const ORDER_NAME_MAX = 100;

export type BatchLimits = Pick<FunctionLimits, 'batchSize' | 'batchTimeoutMs'>;

const limit = integer({ from: 1 });
const upToWeek = period({ from: SECOND_MS, to: 7 * DAY_MS });
const anyTime = period({ from: 1, to: MAX_WAIT_MS });
const key = expression.optional();
const orderName = z
  .string('a text')
  .refine((text) => text.length <= ORDER_NAME_MAX, `at most ${ORDER_NAME_MAX} characters`)
  .refine((text) => !/\p{Cc}/u.test(text), 'a name without control characters');

const schemas = new WeakMap<BatchLimits, FlowSchema>();

/** Cached: built once for equal limits. */
export function flowSchemaOf(limits: BatchLimits): FlowSchema {
  let schema = schemas.get(limits);
  if (!schema) {
    schema = schemaWith(limits);
    schemas.set(limits, schema);
  }
  return schema;
}

function schemaWith(limits: BatchLimits) {
  return z.object({
    concurrency: concurrencySchema.optional(),
    throttle: options({ limit, period: upToWeek, burst: integer({ from: 0 }).optional(), key }),
    rateLimit: options({ limit, period: period({ from: SECOND_MS, to: DAY_MS }), key }),
    debounce: options({ period: upToWeek, timeout: anyTime.optional(), key }),
    batchEvents: options({
      maxSize: integer({ from: 2, to: limits.batchSize, setting: 'BATCH_SIZE_MAX' }),
      timeout: period({ from: SECOND_MS, to: limits.batchTimeoutMs, setting: 'BATCH_TIMEOUT_MAX_SECONDS' }),
      key,
      if: expression.optional(),
    }),
    singleton: options({ key, mode: oneOf(['skip', 'cancel']) }),
    order: options({
      name: orderName.optional(),
      key: expression,
      by: expression.optional(),
      window: period({ from: 0, to: HOUR_MS }).optional(),
      onStale: oneOf(['skip', 'run']).optional(),
      onFailure: oneOf(['skip', 'block', 'park']).optional(),
    }),
    priority: options({ run: expression.optional() }),
    idempotency: expression.optional(),
    timeouts: options({ start: anyTime.optional(), finish: anyTime.optional() }),
  });
}

export type FlowSchema = ReturnType<typeof schemaWith>;
export type GivenFlow = z.output<FlowSchema>;

function options<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape, `an object with the fields ${Object.keys(shape).join(', ')}`).optional();
}
