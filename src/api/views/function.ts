/** A function as the API tells it. */
import { z } from 'zod';
import type { AppFunction } from '../../model/apps/app.ts';
import { type KnownProblem, PROBLEM_REASONS } from '../../store/apps/expression-problems.ts';
import { omittedField } from '../rest/list-response.ts';
import { time } from './time.ts';

const triggerSchema = z
  .object({ event: z.string().optional(), expression: z.string().optional(), cron: z.string().optional() })
  .meta({ id: 'Trigger' });

const problemSchema = z
  .object({
    reason: z.enum(PROBLEM_REASONS).meta({
      description:
        'too_costly: judging an event cost more than it may; quarantined: that happened too often, or the environment has used its share, and for a ' +
        'while costly expressions may cost next to nothing; refused: this version of the service does not take the expression any more',
    }),
    message: z.string(),
    expression: z.string().meta({ description: 'Its first 500 characters' }),
    at: z.iso.datetime(),
    events: z
      .int()
      .meta({ description: 'Events that were not judged, and so did not trigger the function or end its waits' }),
  })
  .meta({ id: 'ExpressionProblem' });

export const functionSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    app: z.string(),
    triggers: z.array(triggerSchema),
    retries: z.int().meta({ description: 'Tries after the first' }),
    paused_at: z.iso.datetime().nullable().meta({ description: 'null: it is not paused' }),
    expression_problem: problemSchema
      .nullable()
      .meta({ description: 'The last within a day of what kept its expressions from being judged; null: nothing' }),
    archived: z.boolean().meta({ description: 'Gone from its app: no longer triggered' }),
  })
  .meta({ id: 'Function' });

export const listedFunctionSchema = functionSchema
  .extend({ triggers: z.array(triggerSchema).optional(), ...omittedField })
  .meta({ id: 'ListedFunction' });

export const detailedFunctionSchema = functionSchema
  .extend({
    url: z.string().meta({ description: 'Where it is called' }),
    cancel: z
      .array(z.object({ event: z.string(), expression: z.string().optional(), timeout: z.string().optional() }))
      .meta({ description: 'Events that cancel its runs' }),
    configuration: z.record(z.string(), z.unknown()).meta({ description: 'As the app registered it' }),
  })
  .meta({ id: 'FunctionWithConfiguration' });

export function presentFunction(fn: AppFunction, problem: KnownProblem | undefined) {
  const { id, name, app, triggers, retries, pausedAt, archived } = fn;
  return {
    id,
    name,
    app,
    triggers,
    retries,
    paused_at: time(pausedAt),
    expression_problem: problem ? { ...problem, at: time(problem.at) as string } : null,
    archived,
  };
}

export function presentDetails(fn: AppFunction, problem: KnownProblem | undefined) {
  return { ...presentFunction(fn, problem), url: fn.url, cancel: fn.cancel, configuration: fn.config };
}
