/** A function as the API tells it. */
import { z } from 'zod';
import type { AppFunction } from '../../model/app.ts';
import { time } from './time.ts';

const triggerSchema = z
  .object({ event: z.string().optional(), expression: z.string().optional(), cron: z.string().optional() })
  .meta({ id: 'Trigger' });

export const functionSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    app: z.string(),
    triggers: z.array(triggerSchema),
    retries: z.int().meta({ description: 'Tries after the first' }),
    paused_at: z.iso.datetime().nullable().meta({ description: 'null: it is not paused' }),
    archived: z.boolean().meta({ description: 'Gone from its app: no longer triggered' }),
  })
  .meta({ id: 'Function' });

export const detailedFunctionSchema = functionSchema
  .extend({
    url: z.string().meta({ description: 'Where it is called' }),
    cancel: z
      .array(z.object({ event: z.string(), expression: z.string().optional(), timeout: z.string().optional() }))
      .meta({ description: 'Events that cancel its runs' }),
    configuration: z.record(z.string(), z.unknown()).meta({ description: 'As the app registered it' }),
  })
  .meta({ id: 'FunctionWithConfiguration' });

export function presentFunction({ id, name, app, triggers, retries, pausedAt, archived }: AppFunction) {
  return { id, name, app, triggers, retries, paused_at: time(pausedAt), archived };
}

export function presentDetails(fn: AppFunction) {
  return { ...presentFunction(fn), url: fn.url, cancel: fn.cancel, configuration: fn.config };
}
