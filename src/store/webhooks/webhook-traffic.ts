/** Requests of each webhook in each hour of the last 8 days, and the longest gap between two. */

import { HOUR_MS } from '../../model/values/time.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

const HOURS_KEPT = 8 * 24;
/** How long traffic is kept: a silence can be detected only while the traffic before it is known. */
const TTL_MS = 16 * 24 * HOUR_MS;

export const TRAFFIC_COUNTS = ['requests', 'accepted', 'rejected', 'filtered', 'unverified'] as const;
export type TrafficCounts = Record<(typeof TRAFFIC_COUNTS)[number], number>;

/** Requests of one webhook within an hour. */
export interface TrafficBatch extends TrafficCounts {
  webhookId: string;
  /** Hours since 1970. */
  hour: number;
  /** Receipt, Unix milliseconds. */
  firstAt: number;
  lastAt: number;
  /** The longest gap between two of these requests. */
  longestGapMs: number;
}

export interface TrafficHour extends TrafficCounts {
  hour: number;
  /** The longest gap between requests that ended in this hour. */
  longestGapMs: number;
}

export interface Traffic {
  /** Hours with requests, oldest first. */
  hours: TrafficHour[];
  /** Receipt of the last request, Unix milliseconds. */
  lastAt: number;
}

export class WebhookTraffic extends Repository {
  /** @returns batches that Redis rejected */
  async add(batches: readonly TrafficBatch[]): Promise<TrafficBatch[]> {
    const byPartition = Map.groupBy(batches, ({ webhookId }) => this.keys.of(webhookId).number);
    const left = await Promise.all([...byPartition.values()].map((some) => this.#addTo(some)));
    return left.flat();
  }

  /** All batches are in one partition. */
  async #addTo(batches: readonly TrafficBatch[]): Promise<TrafficBatch[]> {
    const writing = this.redis.pipeline();
    for (const batch of batches) {
      const { webhookId, hour, firstAt, lastAt, longestGapMs } = batch;
      const counts = JSON.stringify(TRAFFIC_COUNTS.map((name) => batch[name]));
      const key = this.keys.of(webhookId).webhookTraffic(webhookId);
      writing.recordWebhookTraffic(key, hour, counts, firstAt, lastAt, longestGapMs, HOURS_KEPT, TTL_MS);
    }
    const results = await writing.exec().catch(() => null);
    return results === null ? [...batches] : batches.filter((_, i) => results[i]?.[0]);
  }

  /** Receipt of the last request of each webhook, in the order of the IDs. */
  async lastRequests(webhookIds: readonly string[]): Promise<(number | undefined)[]> {
    const commands = webhookIds.map((id) => ['hget', this.keys.of(id).webhookTraffic(id), 'last']);
    const found = await inPipelines<string | null>(this.redis as Redis, commands);
    return found.map((text) => (text === null ? undefined : Number(text)));
  }

  /** undefined if there was no traffic for days. */
  async read(webhookId: string): Promise<Traffic | undefined> {
    const { last, ...fields } = await this.redis.hgetall(this.keys.of(webhookId).webhookTraffic(webhookId));
    if (last === undefined) return undefined;
    const hours = Object.entries(fields).map(([hour, text]) => toHour(Number(hour), JSON.parse(text) as number[]));
    return { hours: hours.sort((a, b) => a.hour - b.hour), lastAt: Number(last) };
  }

  /** Removes the counts of a deleted webhook. */
  async remove(webhookId: string): Promise<void> {
    await this.redis.del(this.keys.of(webhookId).webhookTraffic(webhookId));
  }
}

function toHour(hour: number, values: readonly number[]): TrafficHour {
  const counts = Object.fromEntries(TRAFFIC_COUNTS.map((name, i) => [name, values[i] ?? 0])) as TrafficCounts;
  return { hour, ...counts, longestGapMs: values[TRAFFIC_COUNTS.length] ?? 0 };
}
