/** Metadata of a run: free-form values about the run and its steps, set by its functions or later by others. Scores and experiment
 *  variants are metadata too. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { expected } from '../values/expected.ts';
import { isShallow, MAX_DEPTH } from '../values/json.ts';

/** Maximum per run. */
export const METADATA_MAX_BYTES = 65_536;
/** Maximum per run, across all kinds. */
export const METADATA_MAX_VALUES = 500;
const UPDATES_MAX = 50;
const NAME_MAX = 256;
const STEP_ID_MAX = 1_024;

/** Kind under which a run's page shows rejected metadata and the reason. */
export const REJECTED_KIND = 'service.rejected';

const HASHED_ID = /^[0-9a-f]{40}$/;

/** Object that metadata describes: the run, a step, or an attempt or a span of a step. */
export interface MetadataTarget {
  scope: 'run' | 'step' | 'step_attempt' | 'extended_trace';
  /** Hashed. */
  stepId?: string | undefined;
  attempt?: number | undefined;
  spanId?: string | undefined;
}

export interface MetadataUpdate {
  kind: string;
  /** `set` replaces all values of the kind; `merge` keeps the values that the update does not name. */
  op: 'set' | 'merge';
  values: Record<string, unknown>;
}

export interface Metadata extends MetadataTarget {
  kind: string;
  values: Record<string, unknown>;
  updatedAt: number;
}

const updateSchema = z.object({
  kind: z
    .string()
    .min(1)
    .max(NAME_MAX)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'a name without control characters'),
  op: z.enum(['set', 'merge']).default('merge'),
  values: z
    .record(z.string().max(NAME_MAX), z.unknown())
    .refine((values) => isShallow(values), `values of at most ${MAX_DEPTH} levels`),
});

const updatesSchema = z.array(updateSchema).min(1).max(UPDATES_MAX);

/** The body of a request that updates metadata. */
export const metadataRequestSchema = z.object({
  target: z
    .object({
      run_id: z.string().max(NAME_MAX),
      step_id: z.string().min(1).max(STEP_ID_MAX).nullish(),
      step_index: z.int().min(0).nullish(),
      step_attempt: z.int().min(0).nullish(),
      span_id: z.string().min(1).max(NAME_MAX).nullish(),
    })
    .describe('What the metadata is about; step_id as in the code of the function, or hashed'),
  metadata: updatesSchema,
});

export function targetOf({ target }: z.output<typeof metadataRequestSchema>): MetadataTarget {
  const { step_id, step_index, step_attempt, span_id } = target;
  const stepId = step_id == null ? undefined : hashedStepId(step_id, step_index ?? 0);
  const attempt = step_attempt ?? undefined;
  if (span_id != null) return { scope: 'extended_trace', stepId, attempt, spanId: span_id };
  if (stepId === undefined) return { scope: 'run' };
  return attempt === undefined ? { scope: 'step', stepId } : { scope: 'step_attempt', stepId, attempt };
}

/** Metadata that an operation carries for a step of the call.
 *  @returns updates by target, or why they cannot be stored */
export function metadataOfOperation(
  metadata: unknown,
  stepId: string,
): { target: MetadataTarget; update: MetadataUpdate }[] | string {
  const { success, data, error } = z
    .array(updateSchema.extend({ scope: z.string().optional() }))
    .max(UPDATES_MAX)
    .safeParse(metadata, { error: expected });
  if (!success) return `metadata of step ${stepId}: ${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`;
  return data.map(({ scope, ...update }) => ({
    target: scope === 'run' ? { scope } : { scope: 'step', stepId },
    update,
  }));
}

/** Hashes step IDs as SDKs do: the second use of an ID has index 1. */
function hashedStepId(id: string, index: number): string {
  if (HASHED_ID.test(id)) return id;
  return createHash('sha1')
    .update(index > 0 ? `${id}:${index}` : id)
    .digest('hex');
}
