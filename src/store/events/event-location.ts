/** The location of an event follows from its ID: the bucket of the slice of time (1.024 s) that the ID begins with. A
 *  bucket is one hash, in which an event takes less than half the memory of a key of its own. A bucket expires as a
 *  whole, so an event that must be kept longer, or whose ID does not match its time of receipt, has an overflow key. */
import type { Envelope } from '../../model/events/event.ts';
import { timeOf } from '../../model/ids.ts';
import { DAY_MS, HOUR_MS } from '../../model/values/time.ts';
import { SLICE_LENGTH } from '../keys/events.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';

/** Extra lifetime of buckets beyond the retention, so that work within an hour after receipt need not move events. */
export const SLACK_MS = HOUR_MS;
/** An ID from another day would keep an old bucket alive, and many of them would let the bucket grow forever. */
const OVERFLOW_MS = DAY_MS;

export interface EventLocation {
  bucket: string;
  /** Field of the event in the bucket. */
  field: string;
  /** Key of an event that is not in the bucket. */
  overflow: string;
}

export function locationOf(keys: Keyspace, env: string, id: string): EventLocation {
  return { bucket: bucketOf(keys, env, id), field: fieldOf(id), overflow: keys.of(id).overflowEvent(env, id) };
}

export function bucketOf(keys: Keyspace, env: string, id: string): string {
  return keys.of(id).eventBucket(env, sliceOf(id));
}

/** The slice of time that the ID begins with. */
export function sliceOf(id: string): string {
  return id.slice(0, SLICE_LENGTH);
}

export function fieldOf(id: string): string {
  return id.slice(SLICE_LENGTH);
}

export function isOverflow({ internalId, receivedAt }: Pick<Envelope, 'internalId' | 'receivedAt'>): boolean {
  return Math.abs(receivedAt - timeOf(internalId)) > OVERFLOW_MS;
}
