/** Who did what, when, from where: the last ten thousand entries. Only what was done stands here, never what was refused (rejection-log.ts): of
 *  that anybody can cause ten thousand. */
import type { Principal } from '../../model/auth/access.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

const MAX_ENTRIES = 10_000;

export interface AuditEntry {
  /** Unix milliseconds. */
  at: number;
  who: Pick<Principal, 'kind' | 'id' | 'name'>;
  /** What was done: a route as it is declared (`POST /v1/webhooks`), or `sign-in` and the like. */
  action: string;
  /** What it was done to: an ID or a name; none where there is none. */
  target?: string;
  environment?: string;
  /** In a few words, without secrets. */
  summary: string;
  ip: string;
  requestId: string;
}

export interface StoredAuditEntry extends AuditEntry {
  /** Grows from entry to entry. */
  id: string;
}

export class AuditLog {
  readonly #redis: ScriptedRedis;
  readonly #key: string;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#key = keys.auditLog;
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#redis.appendAuditEntry(this.#key, JSON.stringify(entry), MAX_ENTRIES);
  }

  /** Newest first.
   *  @param before the ID that ended the page before */
  async list(limit: number, before?: string): Promise<StoredAuditEntry[]> {
    const from = before === undefined ? '+' : `(${before}`;
    const entries = await this.#redis.xrevrange(this.#key, from, '-', 'COUNT', limit);
    return entries.map(([id, fields]) => ({ id, ...(JSON.parse(fields[1] as string) as AuditEntry) }));
  }
}
