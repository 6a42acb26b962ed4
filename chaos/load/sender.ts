/** A correct sender: each request has event IDs or an ID seed and is repeated until it is acknowledged. Some are sent again after that. */
import { setTimeout } from 'node:timers/promises';
import type { Outcome } from '../history/entry.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import type { Service } from '../service.ts';
import type { Ledger } from './ledger.ts';
import { KINDS, type Request, type Requests } from './requests.ts';
import { SIGNED, type SignedWebhook } from './signed-webhook.ts';

const RESPONSE_TIMEOUT_MS = 20_000;
const RETRY_MS = 300;
const REPEATED_SHARE = 0.15;

interface Parts {
  service: Service;
  ledger: Ledger;
  recorder: Recorder;
  random: Random;
  requests: Requests;
  signedWebhook: SignedWebhook;
}

interface Response {
  result: Outcome;
  /** Internal IDs, of an acknowledgement. */
  ids?: string[];
}

interface FailedRequest {
  what: string;
  /** Milliseconds since the run began. */
  fromMs: number;
  untilMs: number;
}

export class Sender {
  /** Requests that failed during a rolling deploy. */
  readonly failedInDeploy: FailedRequest[] = [];
  sentInDeploy = 0;
  isDeploying = false;
  /** Requests that failed while Postgres was away. */
  readonly failedWithoutPostgres: string[] = [];
  isWithoutPostgres = false;
  readonly #service: Service;
  readonly #ledger: Ledger;
  readonly #recorder: Recorder;
  readonly #random: Random;
  readonly #requests: Requests;
  readonly #signedWebhook: SignedWebhook;
  readonly #inFlight = new Set<Promise<void>>();
  #stopped = false;

  constructor({ service, ledger, recorder, random, requests, signedWebhook }: Parts) {
    this.#service = service;
    this.#ledger = ledger;
    this.#recorder = recorder;
    this.#random = random;
    this.#requests = requests;
    this.#signedWebhook = signedWebhook;
  }

  /** @param kinds names of KINDS; undefined: all */
  async keepSending(perSecond: number, kinds: readonly string[] = Object.keys(KINDS)): Promise<void> {
    const chosen = kinds.flatMap((name) => KINDS[name] ?? []);
    while (!this.#stopped) {
      this.#begin(this.#random.weighted(chosen).make(this.#requests));
      await setTimeout((1_000 / perSecond) * this.#random.between(0.5, 1.5));
    }
  }

  /** An event that has no data of its own. */
  send(name: string): void {
    this.#begin(this.#requests.event(name));
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Stops sending and waits until all requests are acknowledged. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#requests.isEnding = true;
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
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
    const following = await request.follow?.(ids);
    if (following) this.#begin(following);
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
    const fromMs = this.#recorder.nowMs;
    const failedInDeploy = (what: string) => this.failedInDeploy.push({ what, fromMs, untilMs: this.#recorder.nowMs });
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
      if (inDeploy) failedInDeploy(`${response.status} ${text}`);
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
      if (inDeploy) failedInDeploy(what);
      if (isWithoutPostgres) this.failedWithoutPostgres.push(what);
      return { result: 'unknown' };
    }
  }
}
