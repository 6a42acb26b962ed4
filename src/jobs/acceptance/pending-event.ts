/** An event between its request and its commit. */
import type { Event, Source } from '../../model/events/event.ts';
import type { Seed } from '../../model/ids.ts';
import type { Claim } from '../../store/events/deduplication.ts';

/** The provenance of the events of one request. */
export interface AcceptRequest {
  env: string;
  source: Source;
  requestId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  seed?: Seed | undefined;
  /** The span of the request, if it is recorded. */
  trace?: string;
}

/** An event that is being accepted. */
export interface PendingEvent {
  event: Event;
  /** '' until it gets one in the partition of its commit. */
  internalId: string;
  repeat?: boolean;
  index: number;
  request: AcceptRequest;
}

export function claimOf({ event, internalId, request }: PendingEvent): Claim {
  return { env: request.env, id: event.id as string, internalId };
}
