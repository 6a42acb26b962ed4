/** Stores the alerts of an environment and their unsent messages in one field: both change together, and concurrent
 *  rounds cannot overwrite each other. */
import type { Alert, Change } from '../../model/alerts/alert.ts';
import type { ChannelQueue } from '../../model/alerts/channel-queue.ts';
import type { RuleId } from '../../model/alerts/rules.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { changeField } from '../redis/changed-field.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

const TTL_MS = 30 * DAY_MS;
export const PAST_MAX = 500;
/** Maximum number of changes whose events are not sent yet; beyond it, the oldest are dropped. */
const UNRECORDED_MAX = 100;

export interface AlertBook {
  alerts: Alert[];
  /** Number of subjects that have no alert because their rule has its maximum number of alerts, by rule. */
  omitted: Partial<Record<RuleId, number>>;
  /** Changes that are to become events and past alerts. */
  unrecorded: Change[];
  /** Keyed by name of the alert channel, which may be that of a property of every object. */
  queues: ReadonlyMap<string, ChannelQueue>;
}

type StoredBook = Omit<AlertBook, 'queues'> & { queues: Record<string, ChannelQueue> };

const EMPTY: AlertBook = { alerts: [], omitted: {}, unrecorded: [], queues: new Map() };
const EMPTY_TEXT = toText(EMPTY);
const FIELD = 'book';

export class AlertBooks extends Repository {
  async read(env: string): Promise<AlertBook> {
    return fromText((await this.redis.hget(this.keys.alertBook(env), FIELD)) ?? undefined);
  }

  /** Changes the book atomically.
   *  @param change may be called several times
   *  @returns the changed book */
  async change(env: string, change: (book: AlertBook) => AlertBook): Promise<AlertBook> {
    const key = this.keys.alertBook(env);
    let changed = EMPTY;
    let isSame = true;
    await changeField(this.redis, { key, field: FIELD }, (text) => {
      changed = change(fromText(text));
      const kept = toText(changed);
      const after = kept === EMPTY_TEXT ? undefined : kept;
      isSame = after === text;
      return after;
    });
    if (!isSame) await this.redis.pexpire(key, TTL_MS);
    return changed;
  }

  /** Idempotent. */
  async addPast(env: string, alerts: readonly Alert[], nowMs: number): Promise<void> {
    if (alerts.length === 0) return;
    const key = this.keys.pastAlerts(env);
    const writing = this.redis.multi();
    for (const alert of alerts) writing.zadd(key, alert.resolvedAt ?? nowMs, JSON.stringify(alert));
    writing.zremrangebyscore(key, '-inf', nowMs - TTL_MS);
    writing.zremrangebyrank(key, 0, -PAST_MAX - 1);
    writing.pexpire(key, TTL_MS);
    replies(await writing.exec());
  }

  /** Latest end first. */
  async past(env: string): Promise<Alert[]> {
    const texts = await this.redis.zrange(this.keys.pastAlerts(env), 0, '-1', 'REV');
    return texts.map((text) => JSON.parse(text) as Alert);
  }
}

function fromText(text: string | undefined): AlertBook {
  if (text === undefined) return EMPTY;
  const { queues, ...book } = JSON.parse(text) as StoredBook;
  return { ...book, queues: new Map(Object.entries(queues)) };
}

function toText({ alerts, omitted, unrecorded, queues }: AlertBook): string {
  const kept = { alerts, omitted, unrecorded: unrecorded.slice(-UNRECORDED_MAX), queues: Object.fromEntries(queues) };
  return JSON.stringify(kept satisfies StoredBook);
}
