/** Destinations: URLs to which the service POSTs events, or original requests of webhooks (docs/destinations.md). Each is a function that the
 *  service owns, in an app of its own, so all features of runs and functions apply to it. */
import type { SealedSecret } from '../auth/seal.ts';

/** Begins the IDs of destinations' functions and the names of their apps. No app may register such names. */
export const DESTINATION_PREFIX = 'destination:';

/** `event`: the event, as JSON. `data`: its data alone. `request`: the request that the webhook got, byte for byte. */
export const DESTINATION_BODIES = ['event', 'data', 'request'] as const;
export type DestinationBody = (typeof DESTINATION_BODIES)[number];

/** For 16 hours in total (runs/retry.ts). */
export const DESTINATION_RETRIES = 16;
export const DESTINATION_TIMEOUT_SECONDS = 30;
/** Concurrent requests, unless its flow control says otherwise. */
export const DESTINATION_CONCURRENCY = 10;

/** Data for calls, in addition to the fields of its function. */
export interface Destination {
  body: DestinationBody;
  /** CEL over `event`; its triggers have it as part of their expressions. */
  filter?: string;
  /** Names of headers of the original request that are sent along, in lower case; a trailing `*` stands for any end. */
  forwardHeaders: string[];
  /** Names of headers that each request gets, in lower case, and their values as sealed JSON. */
  headers?: { names: string[]; sealed: string };
  timeoutMs: number;
  /** Newest first; requests are signed with each that is valid. */
  secrets: SealedSecret[];
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

export function destinationId(name: string): string {
  return DESTINATION_PREFIX + name;
}

export function isDestinationId(id: string): boolean {
  return id.startsWith(DESTINATION_PREFIX);
}

/** An event of a request with several events is the first one, so that the request is sent once. */
const FIRST_OF_REQUEST = 'event.index == 0';

/** The expression of its triggers. */
export function expressionOf(body: DestinationBody, filter: string | undefined): string | undefined {
  if (body !== 'request') return filter;
  return filter === undefined ? FIRST_OF_REQUEST : `${FIRST_OF_REQUEST} && (${filter})`;
}
