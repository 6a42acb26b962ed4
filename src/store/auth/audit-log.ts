/** The audit log: who did what, when, and from where; the last 10,000 entries. Rejected attempts are in a log of their own (rejection-log.ts), since
 *  anyone can cause ten thousand of them. */
import type { Principal } from '../../model/auth/access.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

const MAX_ENTRIES = 10_000;

export interface AuditEntry {
  /** Unix milliseconds. */
  at: number;
  who: Pick<Principal, 'kind' | 'id' | 'name'>;
  /** A route as it is declared (`POST /v1/webhooks`), or `sign-in` and the like. */
  action: string;
  /** ID or name of the object of the action, if it has one. */
  target?: string;
  environment?: string;
  /** In a few words, without secrets. */
  summary: string;
  ip: string;
  requestId: string;
}

export interface StoredAuditEntry extends AuditEntry {
  /** Increases from entry to entry. */
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
   *  @param before ID of the last entry of the page before */
  async list(limit: number, before?: string): Promise<StoredAuditEntry[]> {
    const from = before === undefined ? '+' : `(${before}`;
    const entries = await this.#redis.xrevrange(this.#key, from, '-', 'COUNT', limit);
    return entries.map(([id, fields]) => ({ id, ...(JSON.parse(fields[1] as string) as AuditEntry) }));
  }
}
