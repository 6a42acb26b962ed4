/** The audit log: who did what, when, and from where; the last 10,000 entries, which an archive gets soon. Rejected attempts are in a log of their own (rejection-log.ts), since
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

export interface AuditPage {
  entries: StoredAuditEntry[];
  /** Position after which the next page begins; undefined: this is the last page. */
  next?: string | undefined;
  stoppedEarly?: 'archive_unavailable' | undefined;
}

export interface StoredAuditEntry extends AuditEntry {
  /** Increases from entry to entry. */
  id: string;
}

export class AuditLog {
  readonly #redis: ScriptedRedis;
  readonly #key: string;
  readonly #archivedKey: string;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#key = keys.auditLog;
    this.#archivedKey = keys.auditLogArchived;
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#redis.appendAuditEntry(this.#key, JSON.stringify(entry), MAX_ENTRIES);
  }

  /** Newest first.
   *  @param before ID of the last entry of the page before */
  async list(limit: number, before?: string): Promise<AuditPage> {
    const from = before === undefined ? '+' : `(${before}`;
    const found = await this.#redis.xrevrange(this.#key, from, '-', 'COUNT', limit);
    const entries = found.map(([id, fields]) => ({ id, ...(JSON.parse(fields[1] as string) as AuditEntry) }));
    return { entries, next: entries.length === limit ? entries.at(-1)?.id : undefined };
  }

  /** Entries with their text, oldest first.
   *  @param from ID of the first one, or its time */
  async oldest(from: string, limit: number): Promise<{ id: string; entry: string }[]> {
    const found = await this.#redis.xrange(this.#key, from, '+', 'COUNT', limit);
    return found.map(([id, fields]) => ({ id, entry: fields[1] as string }));
  }

  /** ID of the newest entry. */
  async newest(): Promise<string | undefined> {
    return (await this.#redis.xrevrange(this.#key, '+', '-', 'COUNT', 1))[0]?.[0];
  }

  /** ID up to which the archive has all entries. */
  async archivedTo(): Promise<string | undefined> {
    return (await this.#redis.get(this.#archivedKey)) ?? undefined;
  }

  /** Notes that the archive has all entries up to an ID.
   *  @param hotFrom entries from before this time are dropped (Unix milliseconds) */
  async noteArchived(to: string, hotFrom: number): Promise<void> {
    await this.#redis.set(this.#archivedKey, to);
    await this.dropBefore(hotFrom);
  }

  async dropBefore(timeMs: number): Promise<void> {
    if (timeMs > 0) await this.#redis.xtrim(this.#key, 'MINID', timeMs);
  }
}
