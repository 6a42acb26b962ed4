/** The API's representation of one run, with its history. */
import { z } from 'zod';
import { waitingSchema } from './limits.ts';
import { runSchema } from './run.ts';
import { historySchema } from './run-history.ts';
import { metadataSchema } from './run-metadata.ts';
import { runStateSchema } from './run-state.ts';
import { traceSchema } from './trace.ts';

export const detailedRunSchema = runSchema
  .extend({
    state: runStateSchema,
    next_try_at: z.iso
      .datetime()
      .nullable()
      .describe(
        'When the next attempt is due: a retry, or the first attempt when the `ts` of the event is in the future; null: no attempt is scheduled',
      ),
    history: z.array(historySchema).describe('Attempts and steps in order of completion; pending steps come last'),
    waiting: waitingSchema
      .nullable()
      .describe('The limit that holds back the next call of the run; null: no limit does'),
    fingerprint: z
      .string()
      .nullable()
      .describe('Fingerprint of the error group that counts the failed or paused run; null: the run is neither'),
    failed_step: z
      .object({ step_id: z.string(), name: z.string().nullable() })
      .nullable()
      .describe('The step that caused `error`; null: there is no error, or the function itself failed'),
    metadata: z
      .array(metadataSchema)
      .describe('Metadata of the run and its steps, set by the function or later by a user'),
    ...traceSchema.shape,
  })
  .meta({ id: 'RunWithHistory' });
