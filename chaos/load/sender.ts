/** A correct sender: each request has event IDs or an ID seed and is repeated until it is acknowledged. Some are sent again after that. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { BEHAVIORS } from '../apps/hostile.ts';
import { CANCELLED, DEBOUNCED, LONG_WAIT, REPLAYED, WAITING } from '../apps/limits.ts';
import type { Outcome } from '../history/entry.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import { SECRETS, type Service } from '../service.ts';
import { RERUN, SLEEPER } from './bulk-work.ts';
import { cancelRunOf } from './cancel-run.ts';
import type { Ledger } from './ledger.ts';
import { FORGED, SIGNED, type SignedWebhook } from './signed-webhook.ts';

const RESPONSE_TIMEOUT_MS = 20_000;
const RETRY_MS = 300;
const REPEATED_SHARE = 0.15;
/** An awaited event comes before its wait is recorded, or after it. */
const GO_WITHIN_MS = 1_500;
/** The others time out. */
const AWAITED_SHARE = 0.8;
/** Between two looks at a run that does not wait yet. */
const LOOK_MS = 700;
/** Runs wait that long at most until faults are repaired. */
const WAITS_WITHIN_MS = 60_000;
/** When the first, the second or no step is left. */
const CANCELLED_WITHIN_MS = 2_000;
const BATCH = 5;
const KEYS = ['a', 'b'];

interface SentEvent {
  name: string;
  data: object;
  id?: string;
}

interface Request {
  path: string;
  /** Name of the resulting events. */
  name: string;
  /** The sender's IDs of the events. */
  ids: string[];
  /** Of all of the events. */
  key?: string | undefined;
  body: object;
  /** Anew for each attempt: signatures have the time. */
  headers?: (body: string) => Record<string, string>;
  /** The right response is 401. */
  isForged?: boolean;
  /** What follows the acknowledgement. */
  then?: (ids: string[]) => Promise<void>;
}

export class Sender {
  /** Requests that failed during a rolling deploy. */
  readonly failedInDeploy: string[] = [];
  sentInDeploy = 0;
  isDeploying = false;
  /** Requests that failed while Postgres was away. */
  readonly failedWithoutPostgres: string[] = [];
  isWithoutPostgres = false;
  readonly #service: Service;
  readonly #ledger: Ledger;
  readonly #recorder: Recorder;
  readonly #random: Random;
  readonly #webhookPath: string;
  readonly #signedWebhook: SignedWebhook;
  readonly #inFlight = new Set<Promise<void>>();
  #sent = 0;
  #stopped = false;

  constructor(
    service: Service,
    ledger: Ledger,
    recorder: Recorder,
    random: Random,
    webhookPath: string,
    signedWebhook: SignedWebhook,
  ) {
    this.#service = service;
    this.#ledger = ledger;
    this.#recorder = recorder;
    this.#random = random;
    this.#webhookPath = webhookPath;
    this.#signedWebhook = signedWebhook;
  }

  async keepSending(perSecond: number): Promise<void> {
    while (!this.#stopped) {
      this.#begin(this.#random.weighted(KINDS).make(this.#make));
      await setTimeout((1_000 / perSecond) * this.#random.between(0.5, 1.5));
    }
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Stops sending and waits until all requests are acknowledged. */
  async stop(): Promise<void> {
    this.#stopped = true;
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  readonly #make: Make = {
    event: (name) => this.#identified(name, [{}]),
    batch: (name) => this.#identified(name, Array(BATCH).fill({})),
    keyed: (name) => this.#identified(name, [{ key: this.#random.pick(KEYS) }]),
    keyedBatch: (name) => this.#identified(name, Array(BATCH).fill({ key: this.#random.pick(KEYS) })),
    seeded: (name) => {
      const request = this.#identified(name, Array(BATCH).fill({}));
      const body = (request.body as SentEvent[]).map(({ id: _, ...event }) => event);
      return { ...request, body, headers: withSeed(`${Date.now()},${randomBytes(10).toString('base64')}`) };
    },
    webhook: () => {
      const id = this.#newId();
      return { path: this.#webhookPath, name: 'chaos/hook', ids: [id], body: { id } };
    },
    signed: () => this.#delivery(this.#newId(), false),
    forged: () => this.#delivery(this.#newId(), true),
    behavior: () => this.#identified('chaos/hostile', [{ behavior: this.#random.pick(Object.keys(BEHAVIORS)) }]),
    wait: () => {
      const key = this.#newId();
      const goAfterMs = this.#random.next() < AWAITED_SHARE ? this.#random.between(0, GO_WITHIN_MS) : undefined;
      if (goAfterMs !== undefined)
        void setTimeout(goAfterMs).then(() => this.#begin(this.#identified(WAITING.awaited, [{ key }])));
      return this.#identified(WAITING.startedBy, [{ key }]);
    },
    longWait: () => {
      const key = this.#newId();
      const then = ([id]: string[]) => this.#goWhenWaiting(id as string, key);
      return { ...this.#identified(LONG_WAIT, [{ key }]), then };
    },
    cancelled: () => {
      const afterMs = this.#random.between(0, CANCELLED_WITHIN_MS);
      const then = ([id = '']: string[]) => cancelRunOf(id, afterMs, this.#service, this.#recorder);
      return { ...this.#identified(CANCELLED.name, [{}]), then };
    },
  };

  /** Sends the awaited event once the run waits: then it must get it. */
  async #goWhenWaiting(eventId: string, key: string): Promise<void> {
    const givesUpAt = performance.now() + WAITS_WITHIN_MS;
    const isWaiting = async () => {
      const [run] = (await this.#service.get<{ run_id: string }[]>(`/v1/events/${eventId}/runs`)) ?? [];
      const seen = run && (await this.#service.get<{ state: { kind: string } }>(`/v1/runs/${run.run_id}`));
      return seen?.state.kind === 'waiting_for_event';
    };
    while (!(await isWaiting()) && performance.now() < givesUpAt) await setTimeout(LOOK_MS);
    this.#begin(this.#identified(WAITING.awaited, [{ key }]));
  }

  /** Events of one name, and of one key if they have any. */
  #identified(name: string, data: { key?: string; behavior?: string }[]): Request {
    const events: SentEvent[] = data.map((one) => {
      const id = this.#newId();
      return { name, id, data: { ...one, id } };
    });
    const body = events.length === 1 ? (events[0] as SentEvent) : events;
    return { path: `/e/${SECRETS.EVENT_KEYS}`, name, ids: events.map(({ id = '' }) => id), key: data[0]?.key, body };
  }

  #delivery(id: string, isForged: boolean): Request {
    const { path } = this.#signedWebhook;
    const name = isForged ? FORGED : SIGNED;
    const headers = (body: string) => this.#signedWebhook.sign(id, body, isForged);
    return { path, name, ids: [id], body: { type: name }, headers, isForged };
  }

  #newId(): string {
    return `chaos-${++this.#sent}`;
  }

  #begin(request: Request): void {
    const repeats = this.#random.next() < REPEATED_SHARE;
    const sending = this.#send(request, repeats).finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  async #send(request: Request, repeats: boolean): Promise<void> {
    const ids = await this.#untilAcknowledged(request, false);
    if (request.name === SIGNED) this.#signedWebhook.acknowledged++;
    if (repeats) await this.#untilAcknowledged(request, true);
    await request.then?.(ids);
  }

  async #untilAcknowledged(request: Request, isRepeated: boolean): Promise<string[]> {
    for (let turn = 0; ; turn++) {
      if (turn > 0) this.#ledger.resent++;
      const invokedMs = this.#recorder.nowMs;
      const response = await this.#try(request);
      if (response && !request.isForged) this.#record(request, invokedMs, response);
      if (response?.ids && !request.isForged) this.#ledger.acknowledge(response.ids, request.name, isRepeated);
      if (response?.ids) return response.ids;
      await setTimeout(RETRY_MS);
    }
  }

  #record({ name, ids, key }: Request, invokedMs: number, { result, ids: eventIds }: Response): void {
    const answered = { invokedMs, completedMs: this.#recorder.nowMs, result };
    this.#recorder.add({ kind: 'send', name, ids, ...(key && { key }), ...answered, ...(eventIds && { eventIds }) });
  }

  /** @returns undefined if no web process is ready */
  async #try({ path, body, headers, isForged }: Request): Promise<Response | undefined> {
    const { ready } = this.#service;
    if (ready.length === 0) return undefined;
    const url = this.#random.pick(ready);
    const inDeploy = this.isDeploying;
    const { isWithoutPostgres } = this;
    if (inDeploy) this.sentInDeploy++;
    const content = JSON.stringify(body);
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers?.(content) },
        body: content,
        signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
      });
      const text = await response.text();
      if (isForged && response.status === 200) this.#signedWebhook.accepted.push(`200 ${text}`);
      if (isForged && (response.status === 200 || response.status === 401)) return { result: 'ok', ids: [] };
      if (response.status === 200) return { result: 'ok', ids: (JSON.parse(text) as { ids: string[] }).ids };
      if (inDeploy) this.failedInDeploy.push(`${response.status} ${text}`);
      if (isWithoutPostgres) this.failedWithoutPostgres.push(`${response.status} ${text.slice(0, 300)}`);
      if (response.status === 503 || response.status === 429) {
        this.#ledger.rejected++;
        if (!response.headers.has('retry-after')) this.#ledger.withoutRetryAfter.push(`${response.status} ${text}`);
      } else this.#ledger.unexpected.push(`${response.status} ${text.slice(0, 300)}`);
      // A 503 may come from what follows the storing.
      return { result: response.status < 500 ? 'fail' : 'unknown' };
    } catch (error) {
      this.#ledger.unanswered++;
      const { message, cause } = error as Error & { cause?: Error };
      const what = `${message} ${cause?.message ?? ''} at ${url}`;
      if (inDeploy) this.failedInDeploy.push(what);
      if (isWithoutPostgres) this.failedWithoutPostgres.push(what);
      return { result: 'unknown' };
    }
  }
}

interface Response {
  result: Outcome;
  /** Internal IDs, of an acknowledgement. */
  ids?: string[];
}

interface Make {
  event(name: string): Request;
  batch(name: string): Request;
  keyed(name: string): Request;
  /** Of one key. */
  keyedBatch(name: string): Request;
  seeded(name: string): Request;
  webhook(): Request;
  /** Of a provider. */
  signed(): Request;
  forged(): Request;
  behavior(): Request;
  /** Sends the awaited event soon after. */
  wait(): Request;
  /** Sends the awaited event once the run waits for it. */
  longWait(): Request;
  /** Cancels the run soon after. */
  cancelled(): Request;
}

const KINDS: { weight: number; make(make: Make): Request }[] = [
  { weight: 5, make: (make) => make.event('chaos/plain') },
  { weight: 2, make: (make) => make.batch('chaos/plain') },
  { weight: 2, make: (make) => make.seeded('chaos/plain') },
  { weight: 2, make: (make) => make.batch('chaos/limited') },
  { weight: 4, make: (make) => make.event('chaos/steps') },
  { weight: 2, make: (make) => make.event('chaos/flaky') },
  { weight: 2, make: (make) => make.wait() },
  { weight: 2, make: (make) => make.longWait() },
  { weight: 2, make: (make) => make.event('chaos/parent') },
  { weight: 3, make: (make) => make.webhook() },
  { weight: 3, make: (make) => make.signed() },
  { weight: 1, make: (make) => make.forged() },
  { weight: 1, make: (make) => make.behavior() },
  { weight: 2, make: (make) => make.event(RERUN) },
  { weight: 2, make: (make) => make.event(SLEEPER) },
  { weight: 2, make: (make) => make.keyedBatch('chaos/keyed') },
  { weight: 1, make: (make) => make.keyedBatch('chaos/throttled') },
  { weight: 2, make: (make) => make.keyed('chaos/rate-limited') },
  { weight: 2, make: (make) => make.keyed('chaos/singleton') },
  { weight: 2, make: (make) => make.keyed(DEBOUNCED.name) },
  { weight: 2, make: (make) => make.keyed('chaos/batched') },
  { weight: 2, make: (make) => make.batch('chaos/held') },
  { weight: 2, make: (make) => make.event(REPLAYED.name) },
  { weight: 2, make: (make) => make.cancelled() },
];

function withSeed(seed: string): () => Record<string, string> {
  return () => ({ 'x-service-event-id-seed': seed });
}
