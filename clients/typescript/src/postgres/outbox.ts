/** Adds events to the outbox, within the transaction of the app. */
import { randomUUID } from 'node:crypto';
import type { Tidegate } from '../client.ts';
import { InvalidEventError } from '../errors.ts';
import type { EventToSend, OneOrMany, OutgoingEvent } from '../events.ts';
import { refuseUnknown } from '../options.ts';
import { queriesWithin } from './adapters.ts';
import { explained } from './database.ts';
import { OUTBOX_INSERT } from './statements.ts';
import type { AnyTransaction } from './types.ts';

export interface OutboxOptions {
  /** Events with the same key are sent in the order of their rows: commit one after the other what must stay in order. */
  orderKey?: string;
}

/** Bytes that a request adds to its only event. */
const BRACKETS = 2;
/** In one statement. */
const EVENTS_AT_ONCE = 1_000;

/** Adds one or more events within a transaction: they are sent after its commit, each once, and not at all if it is rolled back.
 *  Resolves to their deduplication IDs; an event without `id` gets one. The client's schemas, middleware and `maxBytes` apply here: what is in the outbox is
 *  sent as it is, by whichever relay.
 *  @param tx a transaction of pg, postgres.js, Drizzle, Prisma, Knex or Kysely
 *  @throws InvalidEventError if an event has no name, or no object as data, is too large or does not match its schema; TypeError; what middleware throws.
 *  Then none is added */
export async function outbox<Events>(
  tx: AnyTransaction,
  client: Tidegate<Events>,
  events: OneOrMany<EventToSend<Events>>,
  options: OutboxOptions = {},
): Promise<string[]> {
  refuseUnknown('outbox', options, ['orderKey']);
  const { orderKey: key = null } = options;
  const queries = queriesWithin(tx);
  const maxBytes = client.settings().maxBytes - BRACKETS;
  const post = async (prepared: readonly OutgoingEvent[]) => {
    const complete = prepared.map(withId);
    const texts = complete.map((event) => checkedText(event, maxBytes));
    for (let from = 0; from < texts.length; from += EVENTS_AT_ONCE) {
      const some = texts.slice(from, from + EVENTS_AT_ONCE);
      const values = some.flatMap((text) => [text, key]);
      await queries.query(insertOf(some.length), values).catch((error) => {
        throw explained(error);
      });
    }
    return { ids: complete.map(({ id }) => id) };
  };
  return (await client.send(events, { post })).ids as string[];
}

function insertOf(events: number): string {
  const lists = Array.from({ length: events }, (_, n) => `($${2 * n + 1}::text::json, $${2 * n + 2}::text)`);
  return OUTBOX_INSERT.replace(/\(\$1.*?\)/, () => lists.join(', '));
}

function withId(event: OutgoingEvent): OutgoingEvent & { id: string } {
  return { ...event, id: event?.id ?? randomUUID() };
}

function checkedText(event: OutgoingEvent, maxBytes: number): string {
  const { name, data } = event;
  if (typeof name !== 'string' || name === '') throw new InvalidEventError('An event needs a name', String(name));
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new InvalidEventError(`The data of the event "${name}" must be an object`, name);
  const text = JSON.stringify(event);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  throw new InvalidEventError(`The event "${name}" has ${bytes} bytes; at most ${maxBytes} are allowed`, name);
}
