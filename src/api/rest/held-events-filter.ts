/** Finds held events by filter, a bounded number per request. */
import { z } from 'zod';
import type { Position } from '../../store/redis/pagination.ts';
import { HELD_REASONS, type HeldEvent, type HeldEvents } from '../../store/webhooks/held-events.ts';
import { timeSchema } from '../http/validation.ts';

/** Maximum number of events that one request reads, matching or not. */
const MAX_SCANNED = 5_000;
/** Maximum characters of the events in a response. */
const MAX_FOUND_CHARS = 4 * 1_048_576;

export const heldEventFilter = {
  webhook: z.string().optional().describe('ID of the webhook'),
  name: z.string().optional().describe('Name of the event'),
  selection: z.string().optional().describe('The environment that the request selected'),
  reason: z.enum(HELD_REASONS).optional(),
  received_after: timeSchema.optional().describe('Inclusive'),
  received_before: timeSchema.optional().describe('Exclusive'),
};

const filterSchema = z.object(heldEventFilter);
export type HeldEventFilter = z.output<typeof filterSchema>;

export interface HeldEventPage {
  page: HeldEvent[];
  /** Position of the next page; absent on the last page. */
  next?: Position;
}

/** @param isOpen whether the principal has the needed access to the events of a webhook */
export async function findHeldEvents(
  heldEvents: HeldEvents,
  filter: HeldEventFilter,
  isOpen: (webhookId: string) => boolean,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<HeldEventPage> {
  const page: HeldEvent[] = [];
  let scanned = 0;
  let foundChars = 0;
  const timeRange = { after: filter.received_after, before: filter.received_before, cursor };
  for await (const { held, size } of heldEvents.iterate(timeRange)) {
    if (isOpen(held.webhookId) && matches(held, filter)) {
      page.push(held);
      foundChars += size;
    }
    scanned++;
    if (page.length === limit || foundChars > MAX_FOUND_CHARS || scanned === MAX_SCANNED) {
      return { page, next: { at: held.receivedAt, id: held.internalId } };
    }
  }
  return { page };
}

function matches({ webhookId, event, selection, reason }: HeldEvent, filter: HeldEventFilter): boolean {
  return (
    (filter.webhook === undefined || filter.webhook === webhookId) &&
    (filter.name === undefined || filter.name === event.name) &&
    (filter.selection === undefined || filter.selection === selection) &&
    (filter.reason === undefined || filter.reason === reason)
  );
}
