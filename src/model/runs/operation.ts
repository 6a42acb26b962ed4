/** What an app answers a call with while its function is under way (docs/protocol.md#operations). */
import { z } from 'zod';
import { MAX_TIME_LENGTH } from '../values/duration.ts';
import { MAX_STEPS, type Memo } from './memo.ts';
import { boundedError, type RunError } from './run.ts';

/** No run can have more steps than that, so no answer can mean more. */
export const MAX_OPS = MAX_STEPS;
/** Names are kept with every attempt, and shown in lists. */
const MAX_NAME_LENGTH = 1_024;

const errorSchema = z.looseObject({
  name: z.string().catch('Error'),
  message: z.string().catch(''),
  stack: z.string().optional().catch(undefined),
});

const optionsSchema = z.looseObject({
  duration: z.string().optional(),
  event: z.string().optional(),
  timeout: z.string().nullish(),
  if: z.string().nullish(),
  function_id: z.string().optional(),
  payload: z.looseObject({ data: z.unknown(), user: z.unknown(), v: z.unknown() }).partial().optional(),
});

const opSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{40}$/, 'the SHA-1 of a step ID'),
  op: z.enum([
    'Step',
    'StepRun',
    'StepPlanned',
    'StepError',
    'StepFailed',
    'Sleep',
    'WaitForEvent',
    'InvokeFunction',
    'RunComplete',
    'StepNotFound',
  ]),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  opts: optionsSchema.nullish(),
  data: z.unknown().optional(),
  error: errorSchema.nullish(),
});

export type Op = z.infer<typeof opSchema>;

const opsSchema = z.array(opSchema);

/** Why an answer's operations are refused. */
export type OpsProblem =
  | { problem: 'invalid'; message: string }
  /** Another attempt would be refused as well. */
  | { problem: 'TooManyOperations' | 'NameTooLong'; message: string };

/** The ops of an answer's body, or what is wrong with it. */
export function parseOps(body: unknown): Op[] | OpsProblem {
  const list = Array.isArray(body) ? body : [body];
  if (list.length > MAX_OPS) {
    const message = `the answer has ${list.length} step operations, more than ${MAX_OPS}; plan fewer steps at once, or hand parts of the work to other functions`;
    return { problem: 'TooManyOperations', message };
  }
  const { success, data, error } = opsSchema.safeParse(list);
  if (!success) {
    const { path, message } = error.issues[0] as z.core.$ZodIssue;
    return { problem: 'invalid', message: `${path.join('.')}: ${message}` };
  }
  for (const op of data) {
    const message = longNameIn(op);
    if (message) return { problem: 'NameTooLong', message };
  }
  return data;
}

function longNameIn({ id, name, displayName, opts }: Op): string | undefined {
  const limits: [field: string, text: string | null | undefined, limit: number][] = [
    ['name', name, MAX_NAME_LENGTH],
    ['displayName', displayName, MAX_NAME_LENGTH],
    ['event', opts?.event, MAX_NAME_LENGTH],
    ['function_id', opts?.function_id, MAX_NAME_LENGTH],
    ['duration', opts?.duration, MAX_TIME_LENGTH],
    ['timeout', opts?.timeout, MAX_TIME_LENGTH],
  ];
  for (const [field, text, limit] of limits) {
    if (text && text.length > limit) {
      return `the ${field} of step ${id} has ${text.length} characters, more than ${limit}; shorten it`;
    }
  }
  return undefined;
}

/** The name that a person gave the step. */
export function stepName(op: Op): string {
  return op.displayName ?? op.name ?? op.id;
}

/** What a step leaves behind that has failed for good. The official Go SDK reads it only with the `data` that it gave the error. */
export function failureMemo(op: Op): Memo {
  const data = op.error?.data;
  return { error: { ...errorOf(op), ...(data !== undefined && { data }) } };
}

/** Why a step failed. */
export function errorOf({ error, data }: Op): RunError {
  const given = error ?? (data as Partial<RunError> | undefined);
  return boundedError({
    name: textOr('Error', given?.name),
    message: textOr('the step failed', given?.message),
    ...(typeof given?.stack === 'string' && { stack: given.stack }),
  });
}

/** An error in `data` is whatever the app put there. */
function textOr(otherwise: string, value: unknown): string {
  return typeof value === 'string' ? value : otherwise;
}
