/** `concurrency` has four forms: a number, a limit, a list of limits, and lists for whole runs (`fn`) and for steps (`step`). */
import { z } from 'zod';
import { expected } from '../values/expected.ts';
import { isJsonObject } from '../values/json.ts';
import { expression, integer, oneOf } from './fields.ts';
import type { ConcurrencyLimit, FlowOptions } from './options.ts';

/** Maximum number of limits in a list. */
const LIMITS_MAX = 2;
const FORMS = `an integer, an object with limit, key and scope, a list of at most ${LIMITS_MAX} of them, or an object with the lists fn and step`;

const amount = integer({ from: 1 });

/** An entry without `limit` has no effect. */
const limitSchema = z
  .object(
    { limit: amount.optional(), key: expression.optional(), scope: oneOf(['fn', 'env', 'account']).optional() },
    'an object with the fields limit, key, scope',
  )
  .refine(({ limit, key, scope = 'fn' }) => limit === undefined || scope === 'fn' || key !== undefined, {
    path: ['key'],
    message: 'a key: functions share a limit of the scope "env" or "account" by it',
  });

const listSchema = z
  .array(limitSchema, `a list of at most ${LIMITS_MAX} limits`)
  .refine((list) => list.length <= LIMITS_MAX, {
    error: ({ input }) => `a list of at most ${LIMITS_MAX} limits, and this one has ${(input as unknown[]).length}`,
    abort: true,
  });

const groupsSchema = z.object({ fn: listSchema.optional(), step: listSchema.optional() });

type GivenLimit = z.output<typeof limitSchema>;
export type GivenConcurrency = number | GivenLimit | GivenLimit[] | z.output<typeof groupsSchema>;

/** Chooses the form first, so that an error is about that form. */
export const concurrencySchema = z.unknown().transform((given, ctx): GivenConcurrency => {
  const { success, data, error } = formOf(given).safeParse(given, { error: expected });
  if (success) return data;
  for (const { path, message } of error.issues) ctx.addIssue({ code: 'custom', path: [...path], message });
  return z.NEVER;
});

function formOf(given: unknown): z.ZodType<GivenConcurrency> {
  if (Array.isArray(given)) return listSchema;
  if (isJsonObject(given)) return 'fn' in given || 'step' in given ? groupsSchema : limitSchema;
  return typeof given === 'number' ? amount : z.never(FORMS);
}

export function concurrencyOf(
  given: GivenConcurrency | undefined,
): Pick<FlowOptions, 'runConcurrency' | 'stepConcurrency'> {
  if (given === undefined) return { runConcurrency: [], stepConcurrency: [] };
  if (typeof given === 'number') return concurrencyOf([{ limit: given }]);
  if (Array.isArray(given)) return { runConcurrency: [], stepConcurrency: limitsOf(given) };
  if ('fn' in given || 'step' in given)
    return { runConcurrency: limitsOf(given.fn), stepConcurrency: limitsOf(given.step) };
  return concurrencyOf([given as GivenLimit]);
}

function limitsOf(given: readonly GivenLimit[] = []): ConcurrencyLimit[] {
  return given.flatMap(({ limit, key, scope = 'fn' }) =>
    limit === undefined ? [] : [{ limit, scope, ...(key !== undefined && { key }) }],
  );
}
