/** Earlier triggers of functions, from before the changes of the last days (the key `triggerHistory`). */
import type { AppFunction } from '../../model/apps/app.ts';
import { nextHistory, type PastTriggers, triggersOf } from '../../model/apps/trigger-history.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import type { Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** Events are kept an hour longer than the retention. */
const SLACK_MS = HOUR_MS;

interface Change {
  known: AppFunction | undefined;
  given: AppFunction;
}

export class TriggerHistory extends Repository<Redis, { retentionMs: number }> {
  /** Past triggers of each function, newest first. */
  async read(env: string, functionIds: readonly string[]): Promise<PastTriggers[][]> {
    if (functionIds.length === 0) return [];
    const texts = await this.redis.hmget(this.keys.triggerHistory(env), ...functionIds);
    return texts.map((text) => (text ? (JSON.parse(text) as PastTriggers[]) : []));
  }

  /** @returns for each function whose triggers change: its ID, then its new history (JSON) */
  async after(env: string, changes: readonly Change[], nowMs: number): Promise<{ histories: string[]; ttlMs: number }> {
    const changed = changes.filter(
      ({ known, given }) => JSON.stringify(triggersOf(known)) !== JSON.stringify(triggersOf(given)),
    );
    const before = await this.read(
      env,
      changed.map(({ given }) => given.id),
    );
    const histories = changed.flatMap((change, i) => {
      const recent = (before[i] ?? []).filter(({ until }) => until > nowMs - this.deps.retentionMs + SLACK_MS);
      return [change.given.id, JSON.stringify(nextHistory(recent, change, nowMs) ?? recent)];
    });
    return { histories, ttlMs: this.deps.retentionMs + SLACK_MS };
  }
}
