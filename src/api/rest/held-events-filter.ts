/** Going through the holding page by filter, a bounded number of events at a time. */
import { z } from 'zod';
import type { Position } from '../../store/redis/pagination.ts';
import { HELD_REASONS, type HeldEvent, type HeldEvents } from '../../store/webhooks/held-events.ts';
import { timeSchema } from '../views/time.ts';

/** Looked at in one request, whatever the filter lets through. */
const MAX_LOOKED_AT = 5_000;
/** Characters of what is found in one request. */
const MAX_FOUND = 4 * 1_048_576;

export const holdingFilter = {
  webhook: z.string().optional().meta({ description: 'ID of the webhook' }),
  name: z.string().optional().meta({ description: 'Name of the event' }),
  selection: z.string().optional().meta({ description: 'The environment that the request selected' }),
  reason: z.enum(HELD_REASONS).optional(),
  received_after: timeSchema.optional().meta({ description: 'Inclusive' }),
  received_before: timeSchema.optional().meta({ description: 'Exclusive' }),
};

const filterSchema = z.object(holdingFilter);
export type HoldingFilter = z.output<typeof filterSchema>;

export interface HoldingPage {
  page: HeldEvent[];
  /** Where to go on; none: there is no more. */
  next?: Position;
}

export async function findHeld(
  heldEvents: HeldEvents,
  filter: HoldingFilter,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<HoldingPage> {
  const page: HeldEvent[] = [];
  let lookedAt = 0;
  let found = 0;
  const timeRange = { after: filter.received_after, before: filter.received_before, cursor };
  for await (const { held, size } of heldEvents.iterate(timeRange)) {
    if (passes(held, filter)) {
      page.push(held);
      found += size;
    }
    lookedAt++;
    if (page.length === limit || found > MAX_FOUND || lookedAt === MAX_LOOKED_AT) {
      return { page, next: { at: held.receivedAt, id: held.internalId } };
    }
  }
  return { page };
}

function passes({ webhookId, event, selection, reason }: HeldEvent, filter: HoldingFilter): boolean {
  return (
    (filter.webhook === undefined || filter.webhook === webhookId) &&
    (filter.name === undefined || filter.name === event.name) &&
    (filter.selection === undefined || filter.selection === selection) &&
    (filter.reason === undefined || filter.reason === reason)
  );
}
