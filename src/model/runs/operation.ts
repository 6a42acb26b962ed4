/** Step operations: an app's response while its function is not finished (docs/protocol.md#operations). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { expected } from '../values/expected.ts';
import { isJsonObject } from '../values/json.ts';
import { MAX_TIME_LENGTH } from '../values/time.ts';
import { MAX_STEPS, type Memo } from './memo.ts';
import { type RunError, toRunError, withoutSource } from './run-error.ts';

/** A run cannot have more steps, so a response cannot need more operations. */
const MAX_OPS = MAX_STEPS;
/** Names are stored with every attempt and shown in lists. */
export const MAX_NAME_LENGTH = 1_024;

/** Step IDs are keys of memos and parts of URLs. The official SDKs send 40 hex digits. */
const MAX_ID_LENGTH = 512;

const errorSchema = z.looseObject({
  name: z.string().catch('Error'),
  message: z.string().catch(''),
  stack: z.string().optional().catch(undefined),
});

const optionsSchema = z.looseObject({
  duration: z.string().nullish(),
  event: z.string().nullish(),
  timeout: z.string().nullish(),
  if: z.string().nullish(),
  signal: z.string().nullish(),
  conflict: z.string().nullish(),
  fn_slug: z.string().nullish(),
  input: z.unknown().optional(),
  target_hashed_id: z.string().nullish(),
  function_id: z.string().optional(),
  parallelMode: z.string().optional().catch(undefined),
  payload: z.looseObject({ data: z.unknown(), user: z.unknown(), v: z.unknown() }).partial().nullish(),
});

const SDK_NAME = /^(?:step|group)\.\w[\w.]{0,60}$/;
/** Names, as users know them, of operations that SDKs have and the service does not support. */
const SDK_NAMES: ReadonlyMap<string, string> = new Map([
  ['SyncRunComplete', 'the end of a durable endpoint in the response to a call'],
]);

/** Operations with known options; options of others are not checked. */
const WITH_OPTIONS: ReadonlySet<string> = new Set([
  'Sleep',
  'WaitForEvent',
  'WaitForSignal',
  'InvokeFunction',
  'Gateway',
  'AIGateway',
  'DeferAdd',
  'DeferAbort',
]);

const opSchema = z.object({
  id: z
    .string()
    .min(1)
    .max(MAX_ID_LENGTH)
    // Redis stores well-formed text only: two IDs must not become one.
    .refine((id) => id.isWellFormed(), 'well-formed Unicode'),
  op: z.string().min(1).max(100),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  opts: optionsSchema.nullish(),
  data: z.unknown().optional(),
  metadata: z.unknown().optional(),
  error: errorSchema.nullish(),
  /** Start and duration of the step, nanoseconds. */
  timing: z.object({ a: z.number(), b: z.number() }).nullish().catch(undefined),
});

const anyOpSchema = opSchema.extend({ opts: z.unknown().optional() });

/** Operations without options of their own. */
const WITHOUT_OPTIONS: ReadonlySet<string> = new Set([
  'Step',
  'StepRun',
  'StepError',
  'StepFailed',
  'StepPlanned',
  'StepNotFound',
  'RunComplete',
  'RunError',
  'DiscoveryRequest',
]);

/** The fields read of an unknown operation: enough to name it. */
const unknownOpSchema = opSchema.pick({ id: true, op: true }).extend({
  name: z.string().nullish().catch(undefined),
  displayName: z.string().nullish().catch(undefined),
  opts: z.unknown().optional(),
});

export type Op = z.infer<typeof opSchema>;

/** Checks options only where they are known, so that unexpected options of others do no harm. */
function schemaOf(given: unknown) {
  const op = isJsonObject(given) ? given.op : undefined;
  if (typeof op !== 'string' || WITHOUT_OPTIONS.has(op)) return anyOpSchema;
  return WITH_OPTIONS.has(op) ? opSchema : unknownOpSchema;
}

/** Why operations of a response are rejected. */
export interface OpsProblem {
  /** All kinds except `invalid` are permanent: a retry would fail too. */
  problem: 'invalid' | 'TooManyOperations' | 'NameTooLong';
  message: string;
}

/** Operations of a response body. A rejected operation does not affect the others: steps that finished in the same response are stored. */
export interface ParsedOps {
  ops: Op[];
  /** Why the first rejected operation was rejected; undefined if none was. */
  refused: OpsProblem | undefined;
}

export function parseOps(body: unknown): ParsedOps {
  const list: unknown[] = Array.isArray(body) ? body : [body];
  if (list.length > MAX_OPS) {
    const message = `the response has ${list.length} step operations, more than ${MAX_OPS}; plan fewer steps at once, or move work to other functions`;
    return { ops: [], refused: { problem: 'TooManyOperations', message } };
  }
  const ops: Op[] = [];
  let refused: OpsProblem | undefined;
  for (const [index, given] of list.entries()) {
    if (asksForNothing(given)) continue;
    const parsed = parseOp(given, index);
    if ('problem' in parsed) refused ??= parsed;
    else ops.push(parsed);
  }
  return { ops, refused };
}

/** The official Go SDK fills a response with these, without IDs, for steps that it has already stored. */
function asksForNothing(given: unknown): boolean {
  return isJsonObject(given) && given.op === 'None';
}

function parseOp(given: unknown, index: number): Op | OpsProblem {
  const { success, data, error } = schemaOf(given).safeParse(given, { error: expected });
  if (!success) {
    const { path, message } = error.issues[0] as z.core.$ZodIssue;
    return { problem: 'invalid', message: `${[index, ...path].join('.')}: ${message}` };
  }
  const op = { ...data, opts: isJsonObject(data.opts) ? data.opts : undefined } as Op;
  const message = longNameIn(op);
  return message ? { problem: 'NameTooLong', message } : op;
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
    if (typeof text === 'string' && text.length > limit) {
      return `the ${field} of step ${id} has ${text.length} characters, more than ${limit}; shorten it`;
    }
  }
  return undefined;
}

/** Whether the function must be called as soon as this step ends, even if others are pending. Some SDKs write the mode in upper case. */
export function asksForRace({ opts }: Op): boolean {
  // Options of some operations are unchecked.
  const mode: unknown = opts?.parallelMode;
  return typeof mode === 'string' && mode.toLowerCase() === 'race';
}

/** The ID that marks the end of a function in a list of operations. A step with the same ID also has a name. */
const FUNCTION_END_ID = createHash('sha1').update('complete').digest('hex');

/** Whether the operation reports an error of the function itself rather than of a step. */
export function isFunctionError({ op, id, name, displayName }: Op): boolean {
  if (op === 'RunError') return true;
  return (op === 'StepError' || op === 'StepFailed') && id === FUNCTION_END_ID && !name && !displayName;
}

export function isReturned({ op }: Op): boolean {
  return op === 'StepRun' || op === 'Step';
}

/** Whether the operation changes nothing for the function: if a response has no other operation, its run would never continue. */
export function isSideEffect({ op }: Op): boolean {
  return op === 'DeferAdd' || op === 'DeferAbort';
}

/** Name of the operation in code, if its SDK reports it: `step.fetch`. */
export function sdkNameOf({ op, opts }: Op): string | undefined {
  const type: unknown = isJsonObject(opts) ? opts.type : undefined;
  return typeof type === 'string' && SDK_NAME.test(type) ? type : SDK_NAMES.get(op);
}

export function stepName(op: Op): string {
  return op.displayName ?? op.name ?? op.id;
}

/** The memo of a step that failed permanently. The official Go SDK reads it only with the `data` of its error, which is
 *  the step's return value: it is as large as an output may be. */
export function failureMemo(op: Op): Memo {
  const data = op.error?.data;
  return { error: { ...withoutSource(errorOf(op)), ...(data !== undefined && { data }) } };
}

/** Why a step failed. */
export function errorOf({ error, data }: Op): RunError {
  return toRunError(error ?? (isJsonObject(data) ? data : {}), 'the step failed');
}
