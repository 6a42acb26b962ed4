/** What is stored of an event, as text. The first line is its payload, as it was written when it was accepted; the second, a JSON
 *  array, is what else is known and cannot be derived:
 *
 *      {"name":"order/paid","data":{"total":3}}
 *      ["01M7Z7A7B6FJ7DZJVGC757486T",7]
 *
 *  the request's ID; the source, or the number that stands for it (store/events/event-sources.ts); how much later than the time of its
 *  internal ID the event was received, in milliseconds; its index in the request. Zeros at the end are left out. The internal ID is
 *  where the text is found. JSON text as it is written has no line break of its own. */

import { timeOf } from '../ids.ts';
import type { RecordParts, Source } from './event.ts';

/** A source, or the number that stands for it. */
export type WrittenSource = Source | number;

export type EventParts = RecordParts & { source: WrittenSource };

/** Bytes of the second line at most. */
export const FACTS_MAX = 256;

type Facts = [requestId: string, source: WrittenSource, later?: number, index?: number];

export function writeEvent(event: RecordParts, source: WrittenSource): string {
  const { internalId, payload, requestId, receivedAt, index } = event;
  const later = receivedAt - timeOf(internalId);
  const facts: Facts = [requestId, source];
  if (later !== 0 || index !== 0) facts.push(later);
  if (index !== 0) facts.push(index);
  return `${payload}\n${JSON.stringify(facts)}`;
}

export function readEvent(internalId: string, text: string): EventParts {
  const end = text.indexOf('\n');
  const [requestId, source, later = 0, index = 0] = JSON.parse(text.slice(end + 1)) as Facts;
  const receivedAt = timeOf(internalId) + later;
  return { internalId, payload: text.slice(0, end), requestId, source, receivedAt, index };
}

/** @param text the second line, or a text that ends with it */
export function readSource(text: string): WrittenSource {
  return (JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Facts)[1];
}
