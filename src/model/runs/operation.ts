/** Step operations: the response of an app while its function is not finished (docs/protocol.md#operations). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MAX_TIME_LENGTH } from '../values/duration.ts';
import { MAX_STEPS, type Memo } from './memo.ts';
import { boundedError, type RunError } from './run.ts';

/** A run cannot have more steps, so a response cannot need more operations. */
export const MAX_OPS = MAX_STEPS;
/** Names are stored with every attempt and shown in lists. */
export const MAX_NAME_LENGTH = 1_024;

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
  signal: z.string().nullish(),
  conflict: z.string().nullish(),
  fn_slug: z.string().nullish(),
  input: z.unknown().optional(),
  target_hashed_id: z.string().nullish(),
  function_id: z.string().optional(),
  parallelMode: z.string().optional().catch(undefined),
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
    'WaitForSignal',
    'InvokeFunction',
    'Gateway',
    'AIGateway',
    'DeferAdd',
    'DeferAbort',
    'RunComplete',
    'StepNotFound',
    'DiscoveryRequest',
  ]),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  opts: optionsSchema.nullish(),
  data: z.unknown().optional(),
  metadata: z.unknown().optional(),
  error: errorSchema.nullish(),
  /** When the step ran: its start and its duration, nanoseconds. */
  timing: z.object({ a: z.number(), b: z.number() }).nullish().catch(undefined),
});

export type Op = z.infer<typeof opSchema>;

const opsSchema = z.array(opSchema);

/** Why the operations of a response are rejected. */
export type OpsProblem =
  | { problem: 'invalid'; message: string }
  /** A retry would fail too. */
  | { problem: 'TooManyOperations' | 'NameTooLong'; message: string };

/** The operations of a response body, or its problem. */
export function parseOps(body: unknown): Op[] | OpsProblem {
  const list = Array.isArray(body) ? body : [body];
  if (list.length > MAX_OPS) {
    const message = `the response has ${list.length} step operations, more than ${MAX_OPS}; plan fewer steps at once, or move work to other functions`;
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
    ['signal', opts?.signal, MAX_NAME_LENGTH],
    ['fn_slug', opts?.fn_slug, MAX_NAME_LENGTH],
    ['target_hashed_id', opts?.target_hashed_id, MAX_NAME_LENGTH],
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

/** Whether the function is to be called again as soon as this step ends, although others are pending. Some SDKs write the mode in upper case. */
export function asksForRace({ opts }: Op): boolean {
  return opts?.parallelMode?.toLowerCase() === 'race';
}

/** The ID that ends a function in a list of operations. A step may have the same ID, but it has a name. */
const FUNCTION_END_ID = createHash('sha1').update('complete').digest('hex');

/** Whether the operation reports an error of the function itself, beside other operations, and not one of a step. */
export function isFunctionError({ op, id, name, displayName }: Op): boolean {
  return (op === 'StepError' || op === 'StepFailed') && id === FUNCTION_END_ID && !name && !displayName;
}

/** Whether the operation leaves the function where it is: without another one, its run would not go on. */
export function isAside({ op }: Op): boolean {
  return op === 'DeferAdd' || op === 'DeferAbort';
}

/** The step's display name. */
export function stepName(op: Op): string {
  return op.displayName ?? op.name ?? op.id;
}

/** The memo of a step that failed permanently. The official Go SDK reads it only with the `data` of its error. */
export function failureMemo(op: Op): Memo {
  const data = op.error?.data;
  return { error: { ...errorOf(op), ...(data !== undefined && { data }) } };
}

/** Why a step failed. */
export function errorOf({ error, data }: Op): RunError {
  const source = error ?? (data as Partial<RunError> | undefined);
  return boundedError({
    name: textOr('Error', source?.name),
    message: textOr('the step failed', source?.message),
    ...(typeof source?.stack === 'string' && { stack: source.stack }),
  });
}

/** `data` can hold any value of the app. */
function textOr(fallback: string, value: unknown): string {
  return typeof value === 'string' ? value : fallback;
}
