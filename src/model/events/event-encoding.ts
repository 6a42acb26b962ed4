/** Text encoding of stored events. The first line is the payload as serialized when the event was accepted. The second line, a JSON
 *  array, has the metadata that cannot be derived:
 *
 *      {"name":"order/paid","data":{"total":3}}
 *      ["01M7Z7A7B6FJ7DZJVGC757486T",7]
 *
 *  the request ID; the source, or the number of an interned source (store/events/event-sources.ts); milliseconds between the time of its
 *  internal ID and its receipt; its index in the request. Trailing zeros are omitted. The internal ID is the key of the text.
 *  Serialized JSON has no line breaks. */

import { timeOf } from '../ids.ts';
import type { RecordParts, Source } from './event.ts';

export type EncodedSource = Source | number;

export type EventParts = RecordParts & { source: EncodedSource };

/** Maximum bytes of the second line. */
export const FACTS_MAX = 256;

type Facts = [requestId: string, source: EncodedSource, later?: number, index?: number];

export function writeEvent(event: RecordParts, source: EncodedSource): string {
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
export function readSource(text: string): EncodedSource {
  return (JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Facts)[1];
}
