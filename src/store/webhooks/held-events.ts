/** Held events (docs/webhooks.md#holding-page): webhook events without an environment. Each expires with the retention. */
import type { Event } from '../../model/events/event.ts';
import type { EventOrder } from '../../model/webhooks/webhook-order.ts';
import { type Redis, replies } from '../redis/connection/connection.ts';
import { newest, type TimeRange } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';

export const HELD_REASONS = ['selection_missing', 'environment_unknown', 'environment_mismatch'] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

export interface HeldEvent {
  internalId: string;
  webhookId: string;
  /** Owner of the webhook; absent on events that an earlier version of the service held. */
  env?: string;
  /** The environment named in the request, as sent. */
  selection?: string | undefined;
  reason: HeldReason;
  event: Event & { ts: number };
  /** Its place in the order of its webhook. */
  order?: EventOrder;
  /** Unix milliseconds. */
  receivedAt: number;
  requestId: string;
}

export interface WalkedEvent {
  held: HeldEvent;
  /** Characters in Redis. */
  size: number;
}

/** Events per read; each may be as large as a request. */
const BATCH = 25;

export class HeldEvents extends Repository<Redis, { retentionMs: number }> {
  async hold(held: HeldEvent): Promise<void> {
    const { internalId, receivedAt } = held;
    const writing = this.redis.multi();
    writing.set(this.keys.heldEvent(internalId), JSON.stringify(held), 'PX', this.deps.retentionMs);
    for (const key of this.#listsOf(held)) {
      writing.zadd(key, receivedAt, internalId);
      writing.zremrangebyscore(key, '-inf', receivedAt - this.deps.retentionMs);
      writing.pexpire(key, this.deps.retentionMs);
    }
    replies(await writing.exec());
  }

  /** @param env owner of the webhooks; absent: all */
  async count(nowMs: number, env?: string): Promise<number> {
    const key = env === undefined ? this.keys.heldEvents : this.keys.heldEventsOf(env);
    return this.redis.zcount(key, nowMs - this.deps.retentionMs, '+inf');
  }

  async read(internalId: string): Promise<HeldEvent | undefined> {
    const text = await this.redis.get(this.keys.heldEvent(internalId));
    return text === null ? undefined : (JSON.parse(text) as HeldEvent);
  }

  /** Newest first, by time of receipt and then by ID: stable while events come and go. */
  async *iterate({ after, before, cursor }: TimeRange): AsyncGenerator<WalkedEvent> {
    let last = cursor;
    for (;;) {
      const positions = await newest(this.redis, [this.keys.heldEvents], { after, before, cursor: last }, BATCH);
      if (positions.length === 0) return;
      const texts = await this.redis.mget(positions.map(({ id }) => this.keys.heldEvent(id)));
      for (const text of texts) {
        if (text !== null) yield { held: JSON.parse(text) as HeldEvent, size: text.length };
      }
      last = positions.at(-1);
    }
  }

  /** Assigns the event to an environment. The first assignment wins, so that no event goes to two environments.
   *  @returns the environment that it is assigned to */
  async assign(internalId: string, env: string): Promise<string> {
    const key = this.keys.heldEventEnvironment(internalId);
    const earlier = await this.redis.call('SET', key, env, 'NX', 'GET', 'PX', this.deps.retentionMs);
    return (earlier as string | null) ?? env;
  }

  /** @returns whether it existed */
  async remove(held: Pick<HeldEvent, 'internalId' | 'env'>): Promise<boolean> {
    const writing = this.redis.multi().del(this.keys.heldEvent(held.internalId));
    for (const key of this.#listsOf(held)) writing.zrem(key, held.internalId);
    const [deleted] = replies<number>(await writing.exec());
    return deleted === 1;
  }

  #listsOf({ env }: Pick<HeldEvent, 'env'>): string[] {
    return [this.keys.heldEvents, ...(env === undefined ? [] : [this.keys.heldEventsOf(env)])];
  }
}
