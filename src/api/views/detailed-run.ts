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
    waiting: waitingSchema.nullable().describe('What its next call waits for; null: it waits for no limit'),
    fingerprint: z
      .string()
      .nullable()
      .describe('Of the error group in which the failed run is counted; null: it has not failed'),
    failed_step: z
      .object({ step_id: z.string(), name: z.string().nullable() })
      .nullable()
      .describe('The step that `error` is from; null: there is no error, or the function itself failed'),
    metadata: z.array(metadataSchema).describe('What the function, or somebody later, said of the run and its steps'),
    ...traceSchema.shape,
  })
  .meta({ id: 'RunWithHistory' });
