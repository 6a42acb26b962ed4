/** One logical send: one seed, and one or more sequential requests, depending on its size. */
import { splitByBytes, splitRest } from './chunks.ts';
import { SendError } from './errors.ts';
import type { OutgoingEvent, SendResult } from './events.ts';
import type { AnyMiddleware } from './middleware/types.ts';
import { abandoned, type Clock, type Failure, postEvents, realClock } from './post.ts';
import { newSeed, seedFrom } from './seed.ts';
import type { Settings } from './settings.ts';

export type { SendResult };

export interface SendOptions {
  /** Aborts the send. The error has the IDs of already accepted events. */
  signal?: AbortSignal | undefined;
  /** For the whole send, including retries. Default: none; a single attempt has 30 seconds. */
  timeoutMs?: number | undefined;
  /** From a SendError: sends the same events again without duplicates. */
  seed?: string | undefined;
  /** The function whose step sends the events. @internal */
  within?: SendingFunction | undefined;
  /** Gets the events as they would be sent, instead of the service. @internal */
  post?: ((events: readonly OutgoingEvent[]) => Promise<SendResult>) | undefined;
}

/** @internal */
export interface SendingFunction {
  id: string;
  runId: string;
  middleware: readonly AnyMiddleware[];
}

/** @throws SendError, ConfigError; TypeError if JSON cannot represent an event */
export async function sendEvents(
  events: readonly unknown[],
  settings: Settings,
  options: SendOptions = {},
  clock: Clock = realClock,
): Promise<SendResult> {
  const { seed = newSeed(clock.nowMs()) } = options;
  const signal = signalOf(options);
  const ids: string[] = [];
  let chunks = splitByBytes(events, settings.maxBytes);
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
    const request = { body: chunk.body, seed: seedFrom(seed, chunk.index), signal };
    const outcome = signal?.aborted ? abandoned(signal) : await postEvents(request, settings, clock);
    if ('ids' in outcome) {
      ids.push(...outcome.ids);
      continue;
    }
    // The limit of the event key or environment is smaller than the client's.
    const smaller = splitRest(events, chunk, outcome.limitBytes);
    if (!smaller) throw errorOf(outcome, ids, events.length, seed);
    chunks = smaller;
  }
  return { ids };
}

function signalOf({ signal, timeoutMs }: SendOptions): AbortSignal | undefined {
  if (timeoutMs === undefined) return signal;
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

function errorOf(failure: Failure, acceptedIds: string[], count: number, seed: string): SendError {
  const partly = acceptedIds.length > 0 ? `. The first ${acceptedIds.length} of ${count} events were accepted` : '';
  return new SendError(`${failure.message}${partly}`, { ...failure, acceptedIds, seed });
}
