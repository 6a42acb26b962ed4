/** How a relay reaches the service. */
import type { Tidegate } from '../client.ts';
import { SendError } from '../errors.ts';
import type { OutgoingEvent } from '../events.ts';
import { postJson, refused } from '../post-json.ts';
import { sendEvents } from '../send.ts';
import type { Settings } from '../settings.ts';

export interface Sender {
  /** Sends the events, in order, as one send under the seed. Never rejects. */
  send(events: readonly OutgoingEvent[], seed: string): Promise<Sent>;
  /** Which of the internal IDs of events the service has. Rejects if it cannot tell. */
  findEvents(ids: readonly string[]): Promise<Set<string>>;
  /** Which of the runs the service has. Rejects if it cannot tell. */
  findRuns(ids: readonly string[]): Promise<Set<string>>;
}

export interface Sent {
  /** Internal IDs of the events that were accepted: the first ones, or all. */
  ids: readonly string[];
  /** Why the others were not. */
  failure?: SendFailure;
}

export interface SendFailure {
  message: string;
  /** Whether the service will never accept these events; otherwise it could not be reached, or asks to wait. */
  isFinal: boolean;
}

/** A fraction of the lease of the rows: the others may not send them meanwhile. */
const SEND_TIMEOUT_MS = 12_000;
/** Error codes about the request or the settings, not about an event. */
const NOT_OF_EVENTS = ['environment_missing', 'seed_invalid'];

/** The client's: with its event key to send, and its signing key to look up. Schemas and middleware applied when the events were written. */
// biome-ignore lint/suspicious/noExplicitAny: any events
export function senderOf(client: Tidegate<any, any>): Sender {
  return {
    async send(events, seed) {
      try {
        return await sendEvents(events, client.settings(), { seed, timeoutMs: SEND_TIMEOUT_MS });
      } catch (error) {
        const ids = error instanceof SendError ? error.acceptedIds : [];
        return { ids, failure: { message: messageOf(error), isFinal: isFinal(error) } };
      }
    },
    findEvents: (ids) => lookUp('/v1/events/lookup', ids, client.settings()),
    findRuns: (ids) => lookUp('/v1/runs/lookup', ids, client.settings()),
  };
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof SendError)) return false;
  const { status, code = '' } = error;
  if (code === 'body_too_large' || code === 'event_refused') return true;
  return status === 400 && !NOT_OF_EVENTS.includes(code);
}

/** @throws SendError, ConfigError */
async function lookUp(path: string, ids: readonly string[], settings: Settings): Promise<Set<string>> {
  const answer = await postJson(path, { ids }, settings);
  const { data } = answer.fields as { data?: { id: string; found: boolean }[] };
  if (!answer.ok || !Array.isArray(data)) throw refused('The service did not tell what it has', answer);
  const told = new Set(data.map(({ id }) => id));
  if (ids.some((id) => !told.has(id))) throw refused('The service did not tell of every ID', answer);
  return new Set(data.filter(({ found }) => found).map(({ id }) => id));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
