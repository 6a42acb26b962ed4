/** Carries out replays of webhook requests in the background, where transforms run. One web process at a time works on a replay; when it dies, another
 *  one goes on. The oldest request comes first, one after the other, at the rate of the replay. */
import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Logger } from '../../log.ts';
import { newId } from '../../model/ids.ts';
import type { Locks } from '../../store/redis/locks.ts';
import type { ReplayState, WebhookReplay, WebhookReplays } from '../../store/webhooks/webhook-replays.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { type Draft, draftOf } from '../receive/draft.ts';
import { nextRequests } from './logged-requests.ts';
import { type ReplayRequestDeps, replayRequest } from './replay-request.ts';

const ROUND_MS = 1_000;
const LOCK_MS = 30_000;
/** Before something that passes is tried again. */
const WAIT_MS = 1_000;
const PAGE = 100;

export interface WebhookReplayerDeps extends ReplayRequestDeps {
  webhooks: Webhooks;
  webhookLog: History['webhookLog'];
  webhookReplays: WebhookReplays;
  backpressure: Pick<Backpressure, 'full' | 'admit'>;
  locks: Locks;
  log: Logger;
}

export class WebhookReplayer {
  readonly #deps: WebhookReplayerDeps;
  readonly #stopping = new AbortController();
  /** In progress here, or tried here. */
  readonly #working = new Map<string, Promise<void>>();
  #loop: Promise<void> | undefined;

  constructor(deps: WebhookReplayerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Resolves when no request is being replayed here. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await Promise.all(this.#working.values());
  }

  async #run(): Promise<void> {
    const { webhookReplays, log } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      try {
        for (const id of await webhookReplays.active()) {
          if (!this.#working.has(id) && (await webhookReplays.state(id)) !== 'paused') this.#begin(id);
        }
      } catch (error) {
        log.debug({ err: (error as Error).message }, 'replays of webhook requests cannot be read');
      }
      await this.#sleep(ROUND_MS);
    }
  }

  #begin(id: string): void {
    const { locks, log } = this.#deps;
    const work = locks
      .withLock(`webhook-replay:${id}`, LOCK_MS, () => this.#carryOn(id))
      .catch((error: Error) => log.warn({ replay: id, err: error.message }, 'a replay stopped; it goes on soon'))
      .finally(() => this.#working.delete(id));
    this.#working.set(id, work);
  }

  async #carryOn(id: string): Promise<void> {
    const { webhooks, webhookReplays } = this.#deps;
    const replay = await webhookReplays.read(id);
    if (!replay || replay.state === 'done' || replay.state === 'cancelled') return webhookReplays.tidy(id);
    if (replay.state !== 'running') return;
    const draft = replay.draft && draftOf(replay.webhookId, replay.draft);
    if (!(await this.#replayAll(replay, draft))) return;
    // The log of a deleted webhook ends early.
    const webhook = await webhooks.read(replay.webhookId);
    await webhookReplays.change(id, 'running', webhook ? 'done' : 'cancelled');
  }

  /** @returns whether there are no more requests */
  async #replayAll(given: WebhookReplay, draft: Draft | undefined): Promise<boolean> {
    let replay = given;
    for (let after: string | undefined = given.position; after !== undefined; ) {
      const cursor: string = after;
      const page = await this.#untilItPasses(replay.id, () => nextRequests(this.#deps.webhookLog, given, cursor, PAGE));
      if (!page) return false;
      for (const { id: requestId } of page.requests) {
        const startedAt = performance.now();
        const moved = await this.#replayOne(requestId, replay, draft);
        if (!moved) return false;
        replay = moved;
        await this.#sleep(startedAt + 1_000 / replay.rate - performance.now());
      }
      after = page.next;
    }
    return true;
  }

  /** @returns the replay after it; undefined: not to go on */
  async #replayOne(
    requestId: string,
    replay: WebhookReplay,
    draft: Draft | undefined,
  ): Promise<WebhookReplay | undefined> {
    const { webhooks, webhookReplays, backpressure } = this.#deps;
    const result = await this.#untilItPasses(replay.id, async () => {
      const webhook = await webhooks.read(replay.webhookId);
      if (!webhook) return 'no webhook';
      backpressure.admit();
      return replayRequest(requestId, replay, { webhook: webhooks.inUse(webhook), draft }, this.#deps);
    });
    if (result === 'no webhook') await webhookReplays.change(replay.id, 'running', 'cancelled');
    if (result === undefined || result === 'no webhook') return undefined;
    // The next event has an ID of its own time, which a crash before its result does not change.
    const parent = newId();
    const state = await webhookReplays.record(replay, { ...result, parent });
    return state === 'running' ? { ...replay, position: requestId, parent } : undefined;
  }

  /** @returns undefined: the replay was paused or cancelled meanwhile, or the process stops */
  async #untilItPasses<T>(id: string, work: () => Promise<T>): Promise<T | undefined> {
    const { webhookReplays } = this.#deps;
    for (;;) {
      if (this.#stopping.signal.aborted) return undefined;
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        await webhookReplays.noteWaiting(id, error.code);
        await this.#sleep(WAIT_MS);
        const state: ReplayState | undefined = await webhookReplays.state(id);
        if (state !== 'running') return undefined;
      }
    }
  }

  async #sleep(delayMs: number): Promise<void> {
    if (delayMs <= 0) return;
    await setTimeout(delayMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}
