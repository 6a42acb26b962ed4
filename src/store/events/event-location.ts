/** Where an event is stored follows from its ID: in the bucket of the second or so that the ID begins with. A bucket is one hash, in
 *  which an event costs less than half of what a key of its own would. All of a bucket expires at once, so what stays longer, or came at
 *  another time than its ID says, has a key of its own. */
import type { Envelope } from '../../model/events/event.ts';
import { timeOf } from '../../model/ids.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { SLICE_LENGTH } from './keys.ts';

/** How much longer than the retention a bucket stays: whoever works on an event so soon after its receipt copies nothing. */
export const SLACK_MS = 3_600_000;
/** An ID of another day would keep an old bucket alive, and whoever sends many would let it grow for ever. */
const STRAY_MS = 86_400_000;

export interface EventLocation {
  bucket: string;
  /** In the bucket. */
  field: string;
  /** Where the event is if the bucket does not have it. */
  copy: string;
}

export function locationOf(keys: Keyspace, env: string, id: string): EventLocation {
  return { bucket: bucketOf(keys, env, id), field: fieldOf(id), copy: keys.overflowEvent(env, id) };
}

export function bucketOf(keys: Keyspace, env: string, id: string): string {
  return keys.eventBucket(env, sliceOf(id));
}

/** Of time, that the ID begins with. */
export function sliceOf(id: string): string {
  return id.slice(0, SLICE_LENGTH);
}

export function fieldOf(id: string): string {
  return id.slice(SLICE_LENGTH);
}

export function isOverflow({ internalId, receivedAt }: Envelope): boolean {
  return Math.abs(receivedAt - timeOf(internalId)) > STRAY_MS;
}
