/** Fields with which lists report that they are incomplete. */
import { z } from 'zod';
import { STOPPED_EARLY } from '../../history/merged-page.ts';

export const omittedField = {
  omitted: z
    .array(z.string())
    .optional()
    .describe('Fields that are too large for a list; get the item by its ID to read them'),
};

/** Why a list may be incomplete: `metadata.stopped_early`. */
export const stoppedEarlySchema = z
  .enum(STOPPED_EARLY)
  .describe(
    'The list may be incomplete. archive_unavailable: Postgres, which stores the older entries, is unavailable; time: the search took too long. ' +
      'The cursor continues from here',
  );
