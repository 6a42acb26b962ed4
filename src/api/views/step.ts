/** What a finished step of a run came to, as the API tells it. */
import { z } from 'zod';
import { isJsonObject, parseStored } from '../../model/values/json.ts';
import { runErrorSchema } from './run.ts';

export const stepSchema = z
  .object({
    step_id: z.string(),
    data: z.unknown().optional().meta({
      description:
        'What it returned; of a wait the event, or null when none came; null of a sleep; absent where it failed',
    }),
    error: runErrorSchema
      .extend({ data: z.unknown().optional().meta({ description: 'What the step returned all the same' }) })
      .optional()
      .meta({ description: 'Where it failed for good' }),
  })
  .meta({ id: 'Step' });

/** @param memo JSON text of a Memo (model/runs/memo.ts) */
export function presentStep(stepId: string, memo: string) {
  const found = parseStored(memo);
  if (!isJsonObject(found)) return { step_id: stepId, data: found };
  if ('error' in found) return { step_id: stepId, error: found.error };
  // An event that was waited for has a name beside its data.
  return { step_id: stepId, data: 'name' in found ? found : found.data };
}
