/** Adds events to the outbox, within the transaction of the app. */
import { randomUUID } from 'node:crypto';
import { InvalidEventError } from '../errors.ts';
import type { OneOrMany, OutgoingEvent } from '../events.ts';
import { refuseUnknown } from '../options.ts';
import { queriesWithin } from './adapters.ts';
import { explained } from './database.ts';
import { OUTBOX_INSERT } from './statements.ts';
import type { AnyTransaction } from './types.ts';

export interface OutboxOptions {
  /** Events with the same key are sent in the order of their rows: commit one after the other what must stay in order. */
  orderKey?: string;
}

/** The default limit of the service for a request, without its brackets. */
const MAX_BYTES = 512 * 1_024 - 2;

/** Adds one or more events within a transaction: they are sent after its commit, each once, and not at all if it is rolled back.
 *  Resolves to their deduplication IDs; an event without `id` gets one.
 *  @param tx a transaction of pg, postgres.js, Drizzle, Prisma, Knex or Kysely
 *  @throws InvalidEventError if an event has no name, or no object as data, or is too large; TypeError. Then none is added */
export async function outbox(
  tx: AnyTransaction,
  events: OneOrMany<OutgoingEvent>,
  options: OutboxOptions = {},
): Promise<string[]> {
  refuseUnknown('outbox', options, ['orderKey']);
  const { orderKey: key = null } = options;
  const complete = [events].flat().map(withId);
  if (complete.length === 0) return [];
  const rows = complete.map((event) => ({ event: checkedText(event), key }));
  try {
    await queriesWithin(tx).query(OUTBOX_INSERT, [JSON.stringify(rows)]);
  } catch (error) {
    throw explained(error);
  }
  return complete.map(({ id }) => id);
}

function withId(event: OutgoingEvent): OutgoingEvent & { id: string } {
  return { ...event, id: event?.id ?? randomUUID() };
}

function checkedText(event: OutgoingEvent): string {
  const { name, data } = event;
  if (typeof name !== 'string' || name === '') throw new InvalidEventError('An event needs a name', String(name));
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new InvalidEventError(`The data of the event "${name}" must be an object`, name);
  const text = JSON.stringify(event);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return text;
  throw new InvalidEventError(`The event "${name}" has ${bytes} bytes; at most ${MAX_BYTES} are allowed`, name);
}
