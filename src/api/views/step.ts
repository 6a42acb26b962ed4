/** The API's representation of a finished step. */
import { z } from 'zod';
import { failingStepOf } from '../../model/errors/failing-step.ts';
import type { HistoryEntry, Run } from '../../model/runs/run.ts';
import { isJsonObject, parseStored } from '../../model/values/json.ts';
import { apiObject } from '../http/validation.ts';
import { runErrorSchema } from './run.ts';

export const stepSchema = apiObject('Step', {
  step_id: z.string(),
  data: z
    .unknown()
    .optional()
    .describe(
      'Result of the step; for a wait the event, or null after a timeout; null for a sleep; absent when the step failed',
    ),
  error: runErrorSchema
    .extend({ data: z.unknown().optional().describe('Result that the step returned in spite of the error') })
    .optional()
    .describe('Present when the step failed permanently'),
});

/** @param memo JSON text of a Memo (model/runs/memo.ts) */
export function presentStep(stepId: string, memo: string) {
  const found = parseStored(memo);
  if (!isJsonObject(found)) return { step_id: stepId, data: found };
  if ('error' in found) return { step_id: stepId, error: found.error };
  // The event of a wait has a name in addition to its data.
  return { step_id: stepId, data: 'name' in found ? found : found.data };
}

/** The step that caused the error of a run. */
export function presentFailedStep({ error }: Pick<Run, 'error'>, history: readonly HistoryEntry[]) {
  const step = error && failingStepOf(history, error);
  return step ? { step_id: step.id, name: step.name ?? null } : null;
}
