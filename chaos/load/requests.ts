/** The requests that a sender makes, by kind, and what follows each. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { BEHAVIORS } from '../apps/hostile.ts';
import {
  CANCELLED,
  DEBOUNCED,
  LONG_SLEEP,
  LONG_WAIT,
  OFFLOADED_MS,
  ORDERED,
  PAUSING,
  REPLAYED,
  WAITING,
} from '../apps/limits.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import { SECRETS, type Service } from '../service.ts';
import { RERUN, SLEEPER } from './bulk-work.ts';
import { cancelRunOf } from './cancel-run.ts';
import { FORGED, SIGNED, type SignedWebhook } from './signed-webhook.ts';

/** An awaited event comes before its wait is recorded, or after it. */
const GO_WITHIN_MS = 1_500;
/** The others time out. */
const AWAITED_SHARE = 0.8;
/** The others get it while they are in Postgres. */
const SOON_SHARE = 0.5;
/** Between two looks at a run that does not wait yet. */
const LOOK_MS = 700;
/** By then a run waits, even on a machine that is minutes behind: an awaited event that comes before its run is none. */
const WAITS_WITHIN_MS = 300_000;
/** When the first, the second or no step is left. */
const CANCELLED_WITHIN_MS = 2_000;
const BATCH = 5;
const KEYS = ['a', 'b'];

interface SentEvent {
  name: string;
  data: object;
  id?: string;
}

export interface Request {
  path: string;
  /** Name of the resulting events. */
  name: string;
  /** The sender's IDs of the events. */
  ids: string[];
  /** The key of all of the events. */
  key?: string | undefined;
  body: object;
  /** Anew for each attempt: signatures have the time. */
  headers?: (body: string) => Record<string, string>;
  /** The right response is 401. */
  isForged?: boolean;
  /** What follows the acknowledgement: perhaps another request. */
  follow?: (eventIds: string[]) => Promise<Request | undefined>;
}

interface Parts {
  service: Service;
  recorder: Recorder;
  random: Random;
  webhookPath: string;
  signedWebhook: SignedWebhook;
}

interface Kind {
  weight: number;
  make(requests: Requests): Request;
}

/** By the name of the events, with what tells two kinds of one name apart. */
export const KINDS: Readonly<Record<string, Kind>> = {
  'chaos/plain': { weight: 5, make: (requests) => requests.event('chaos/plain') },
  'chaos/plain, batch': { weight: 2, make: (requests) => requests.batch('chaos/plain') },
  'chaos/plain, seed': { weight: 2, make: (requests) => requests.seeded('chaos/plain') },
  'chaos/limited': { weight: 2, make: (requests) => requests.batch('chaos/limited') },
  'chaos/steps': { weight: 4, make: (requests) => requests.event('chaos/steps') },
  'chaos/flaky': { weight: 2, make: (requests) => requests.event('chaos/flaky') },
  'chaos/chain': { weight: 3, make: (requests) => requests.event('chaos/chain') },
  [WAITING.startedBy]: { weight: 2, make: (requests) => requests.wait() },
  [LONG_WAIT]: { weight: 2, make: (requests) => requests.longWait() },
  'chaos/parent': { weight: 2, make: (requests) => requests.event('chaos/parent') },
  'chaos/hook': { weight: 3, make: (requests) => requests.webhook() },
  [SIGNED]: { weight: 3, make: (requests) => requests.delivery(false) },
  [FORGED]: { weight: 1, make: (requests) => requests.delivery(true) },
  'chaos/hostile': { weight: 1, make: (requests) => requests.behavior() },
  [RERUN]: { weight: 2, make: (requests) => requests.event(RERUN) },
  [SLEEPER]: { weight: 2, make: (requests) => requests.event(SLEEPER) },
  'chaos/keyed': { weight: 2, make: (requests) => requests.keyedBatch('chaos/keyed') },
  'chaos/throttled': { weight: 1, make: (requests) => requests.keyedBatch('chaos/throttled') },
  'chaos/rate-limited': { weight: 2, make: (requests) => requests.keyed('chaos/rate-limited') },
  'chaos/singleton': { weight: 2, make: (requests) => requests.keyed('chaos/singleton') },
  [ORDERED.name]: { weight: 2, make: (requests) => requests.ordered() },
  [DEBOUNCED.name]: { weight: 2, make: (requests) => requests.keyed(DEBOUNCED.name) },
  'chaos/batched': { weight: 2, make: (requests) => requests.keyed('chaos/batched') },
  'chaos/held': { weight: 2, make: (requests) => requests.batch('chaos/held') },
  [REPLAYED.name]: { weight: 2, make: (requests) => requests.event(REPLAYED.name) },
  [CANCELLED.name]: { weight: 2, make: (requests) => requests.cancelled() },
  [PAUSING.name]: { weight: 2, make: (requests) => requests.event(PAUSING.name) },
  [LONG_SLEEP.name]: { weight: 1, make: (requests) => requests.event(LONG_SLEEP.name) },
};

/** The short form ends before these. */
export const SHORT_KINDS: readonly string[] = Object.keys(KINDS).filter((name) => name !== LONG_SLEEP.name);

export class Requests {
  /** What follows comes soon. */
  isEnding = false;
  readonly #parts: Parts;
  #made = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  event(name: string): Request {
    return this.#identified(name, [{}]);
  }

  batch(name: string): Request {
    return this.#identified(name, Array(BATCH).fill({}));
  }

  keyed(name: string): Request {
    return this.#identified(name, [{ key: this.#parts.random.pick(KEYS) }]);
  }

  /** Its number is that of its ID. */
  ordered(): Request {
    return this.#identified(ORDERED.name, [{ key: this.#parts.random.pick(KEYS), at: this.#made + 1 }]);
  }

  /** Events of one key. */
  keyedBatch(name: string): Request {
    return this.#identified(name, Array(BATCH).fill({ key: this.#parts.random.pick(KEYS) }));
  }

  seeded(name: string): Request {
    const request = this.batch(name);
    const body = (request.body as SentEvent[]).map(({ id: _, ...event }) => event);
    const seed = `${Date.now()},${randomBytes(10).toString('base64')}`;
    return { ...request, body, headers: () => ({ 'x-service-event-id-seed': seed }) };
  }

  webhook(): Request {
    const id = this.#newId();
    return { path: this.#parts.webhookPath, name: 'chaos/hook', ids: [id], body: { id } };
  }

  /** A delivery of a provider. */
  delivery(isForged: boolean): Request {
    const { signedWebhook } = this.#parts;
    const id = this.#newId();
    const name = isForged ? FORGED : SIGNED;
    const headers = (body: string) => signedWebhook.sign(id, body, isForged);
    return { path: signedWebhook.path, name, ids: [id], body: { type: name }, headers, isForged };
  }

  behavior(): Request {
    return this.#identified('chaos/hostile', [{ behavior: this.#parts.random.pick(Object.keys(BEHAVIORS)) }]);
  }

  /** The awaited event follows soon, or never. */
  wait(): Request {
    const { random } = this.#parts;
    const key = this.#newId();
    const request = this.#identified(WAITING.startedBy, [{ key }]);
    if (random.next() >= AWAITED_SHARE) return request;
    const goAfterMs = random.between(0, GO_WITHIN_MS);
    return { ...request, follow: () => setTimeout(goAfterMs).then(() => this.#identified(WAITING.awaited, [{ key }])) };
  }

  /** The awaited event follows once the run waits, or is in Postgres: then it must get it. */
  longWait(): Request {
    const key = this.#newId();
    const leastMs = this.#parts.random.next() < SOON_SHARE ? 0 : OFFLOADED_MS;
    const follow = async ([id = '']: string[]) => {
      const startedAt = performance.now();
      await this.#untilWaiting(id);
      while (!this.isEnding && performance.now() - startedAt < leastMs) await setTimeout(LOOK_MS);
      return this.#identified(WAITING.awaited, [{ key }]);
    };
    return { ...this.#identified(LONG_WAIT, [{ key }]), follow };
  }

  /** Its run is cancelled soon after. */
  cancelled(): Request {
    const { service, recorder, random } = this.#parts;
    const afterMs = random.between(0, CANCELLED_WITHIN_MS);
    const follow = async ([id = '']: string[]) => {
      await cancelRunOf(id, afterMs, service, recorder);
      return undefined;
    };
    return { ...this.event(CANCELLED.name), follow };
  }

  async #untilWaiting(eventId: string): Promise<void> {
    const { service } = this.#parts;
    const givesUpAt = performance.now() + WAITS_WITHIN_MS;
    const isWaiting = async () => {
      const [run] = (await service.get<{ run_id: string }[]>(`/v1/events/${eventId}/runs`)) ?? [];
      const seen = run && (await service.get<{ state: { kind: string } }>(`/v1/runs/${run.run_id}`));
      return seen?.state.kind === 'waiting_for_event';
    };
    while (!(await isWaiting()) && performance.now() < givesUpAt) await setTimeout(LOOK_MS);
  }

  /** Events of one name, and of one key if they have any. */
  #identified(name: string, data: { key?: string; at?: number; behavior?: string }[]): Request {
    const events: SentEvent[] = data.map((one) => {
      const id = this.#newId();
      return { name, id, data: { ...one, id } };
    });
    const body = events.length === 1 ? (events[0] as SentEvent) : events;
    return { path: `/e/${SECRETS.EVENT_KEYS}`, name, ids: events.map(({ id = '' }) => id), key: data[0]?.key, body };
  }

  #newId(): string {
    return `chaos-${++this.#made}`;
  }
}
