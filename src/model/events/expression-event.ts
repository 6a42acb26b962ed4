/** Events as expressions see them (docs/functions.md#expressions). */
import { type EventRecord, payloadOf, type Source } from './event.ts';

/** `event` and `async` in the expressions of waits; `id` is the sender's, else the internal ID. */
export function expressionEventOf(record: EventRecord): Record<string, unknown> {
  return { user: {}, v: null, ...payloadOf(record) };
}

/** `event` in the expressions of triggers, with additional fields that the service knows. */
export function triggerEventOf(record: EventRecord, source: Source): Record<string, unknown> {
  return { ...record, source, ...expressionEventOf(record) };
}
