/** A correct sender: each request has event IDs or an ID seed and is repeated until it is acknowledged. Some are sent again after that. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { BEHAVIORS } from '../apps/hostile.ts';
import { LONG_WAIT } from '../apps/long-wait.ts';
import type { Random } from '../random.ts';
import { SECRETS, type Service } from '../service.ts';
import type { Timeline } from '../timeline.ts';
import { RERUN, SLEEPER } from './bulk-work.ts';
import type { Ledger } from './ledger.ts';
import { FORGED, SIGNED, type SignedWebhook } from './signed-webhook.ts';

const RESPONSE_TIMEOUT_MS = 20_000;
const RETRY_MS = 300;
const REPEATED_SHARE = 0.15;
const GO_AFTER_MS = 700;
/** Runs wait that long at most until faults are repaired. */
const WAITS_WITHIN_MS = 60_000;
const BATCH = 5;

interface SentEvent {
  name: string;
  data: object;
  id?: string;
}

interface Request {
  path: string;
  /** Name of the resulting events. */
  name: string;
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
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #webhookPath: string;
  readonly #signedWebhook: SignedWebhook;
  readonly #inFlight = new Set<Promise<void>>();
  #sent = 0;
  #stopped = false;

  constructor(
    service: Service,
    ledger: Ledger,
    timeline: Timeline,
    random: Random,
    webhookPath: string,
    signedWebhook: SignedWebhook,
  ) {
    this.#service = service;
    this.#ledger = ledger;
    this.#timeline = timeline;
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
    event: (name, data = {}) => this.#identified([{ name, data }]),
    batch: (name) => this.#identified(Array.from({ length: BATCH }, () => ({ name, data: {} }))),
    seeded: (name) => ({
      ...this.#request(
        name,
        Array.from({ length: BATCH }, () => ({ name, data: { n: ++this.#sent } })),
      ),
      headers: withSeed(`${Date.now()},${randomBytes(10).toString('base64')}`),
    }),
    webhook: () => ({ path: this.#webhookPath, name: 'chaos/hook', body: { delivery: this.#newId() } }),
    signed: () => this.#delivery(this.#newId(), false),
    forged: () => this.#delivery(this.#newId(), true),
    behavior: () =>
      this.#identified([{ name: 'chaos/hostile', data: { behavior: this.#random.pick(Object.keys(BEHAVIORS)) } }]),
    wait: () => {
      const key = this.#newId();
      void setTimeout(GO_AFTER_MS).then(() => this.#begin(this.#identified([{ name: 'chaos/go', data: { key } }])));
      return this.#identified([{ name: 'chaos/wait', data: { key } }]);
    },
    longWait: () => {
      const key = this.#newId();
      const then = ([id]: string[]) => this.#goWhenWaiting(id as string, key);
      return { ...this.#identified([{ name: LONG_WAIT, data: { key } }]), then };
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
    while (!(await isWaiting()) && performance.now() < givesUpAt) await setTimeout(GO_AFTER_MS);
    this.#begin(this.#identified([{ name: 'chaos/go', data: { key } }]));
  }

  #identified(events: SentEvent[]): Request {
    const [first] = events as [SentEvent];
    return this.#request(
      first.name,
      events.map((event) => ({ ...event, id: this.#newId() })),
    );
  }

  #request(name: string, events: SentEvent[]): Request {
    return { path: `/e/${SECRETS.EVENT_KEYS}`, name, body: events.length === 1 ? (events[0] as SentEvent) : events };
  }

  #delivery(id: string, isForged: boolean): Request {
    const { path } = this.#signedWebhook;
    const name = isForged ? FORGED : SIGNED;
    const headers = (body: string) => this.#signedWebhook.sign(id, body, isForged);
    return { path, name, body: { type: name }, headers, isForged };
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
    const ids = await this.#untilAcknowledged(request, undefined);
    if (request.name === SIGNED) this.#signedWebhook.acknowledged++;
    if (repeats) await this.#untilAcknowledged(request, ids);
    await request.then?.(ids);
  }

  async #untilAcknowledged(request: Request, before: string[] | undefined): Promise<string[]> {
    for (let turn = 0; ; turn++) {
      if (turn > 0) this.#ledger.resent++;
      const ids = await this.#try(request);
      if (ids && request.isForged) return ids;
      if (ids) {
        this.#ledger.acknowledge(ids, request.name, this.#timeline.nowMs, before);
        return ids;
      }
      await setTimeout(RETRY_MS);
    }
  }

  async #try({ path, body, headers, isForged }: Request): Promise<string[] | undefined> {
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
      if (isForged && (response.status === 200 || response.status === 401)) return [];
      if (response.status === 200) return (JSON.parse(text) as { ids: string[] }).ids;
      if (inDeploy) this.failedInDeploy.push(`${response.status} ${text}`);
      if (isWithoutPostgres) this.failedWithoutPostgres.push(`${response.status} ${text.slice(0, 300)}`);
      if (response.status === 503 || response.status === 429) {
        this.#ledger.rejected++;
        if (!response.headers.has('retry-after')) this.#ledger.withoutRetryAfter.push(`${response.status} ${text}`);
      } else this.#ledger.unexpected.push(`${response.status} ${text.slice(0, 300)}`);
    } catch (error) {
      this.#ledger.unanswered++;
      const { message, cause } = error as Error & { cause?: Error };
      const what = `${message} ${cause?.message ?? ''} at ${url}`;
      if (inDeploy) this.failedInDeploy.push(what);
      if (isWithoutPostgres) this.failedWithoutPostgres.push(what);
    }
    return undefined;
  }
}

interface Make {
  event(name: string, data?: object): Request;
  batch(name: string): Request;
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
];

function withSeed(seed: string): () => Record<string, string> {
  return () => ({ 'x-service-event-id-seed': seed });
}
