/** User input about the order of a webhook's events, and its validation. */
import { z } from 'zod';
import { compileOrder } from '../../model/expressions/expression.ts';
import { durationMs } from '../../model/values/duration.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import type { WebhookOrder } from '../../model/webhooks/webhook-order.ts';
import { checkExpression } from '../receive/check-filter.ts';
import { expressionSchema } from './expression.ts';

const windowSchema = z
  .string()
  .max(20)
  .transform((text) => durationMs(text) ?? Number.NaN)
  .refine((ms) => ms >= 0 && ms <= HOUR_MS, 'a time string from 0s to 1h, such as "10s"');

export const orderSchema = z
  .strictObject({
    key: expressionSchema,
    by: expressionSchema.nullish(),
    window: windowSchema.default(0),
    on_stale: z.enum(['run', 'skip']).default('run'),
    on_failure: z.enum(['skip', 'block', 'park']).default('skip'),
  })
  .nullish()
  .meta({
    description:
      'The events of each value of `key` run one after another, in the order of `by`, in each function that has no order of its own. Both are CEL over `event`, which the transform made, and `request` (`method`, `headers`, `query`, `body`). null: they do not wait for each other',
    example: { key: 'event.data.object.id', by: 'event.ts', window: '5s', on_stale: 'skip' },
  });

type OrderInput = z.output<typeof orderSchema>;

/** @throws ServiceError input_invalid, naming the field */
export function orderOf({ key, by, window, on_stale, on_failure }: NonNullable<OrderInput>): WebhookOrder {
  checkExpression(key, 'order.key', compileOrder);
  if (by) checkExpression(by, 'order.by', compileOrder);
  return { key, ...(by && { by }), windowMs: window, onStale: on_stale, onFailure: on_failure };
}
