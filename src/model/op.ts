/** What an app answers a call with while its function is under way (protocol: ops). */
import { z } from 'zod';
import type { Memo } from './memo.ts';
import type { RunError } from './run.ts';

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

const opSchema = z.looseObject({
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

/** The ops of an answer's body, or what is wrong with it. */
export function parseOps(body: unknown): Op[] | { problem: string } {
  const { success, data, error } = opsSchema.safeParse(Array.isArray(body) ? body : [body]);
  if (success) return data;
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  return { problem: `${path.join('.')}: ${message}` };
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
  return {
    name: given?.name ?? 'Error',
    message: given?.message ?? 'the step failed',
    ...(given?.stack && { stack: given.stack }),
  };
}
