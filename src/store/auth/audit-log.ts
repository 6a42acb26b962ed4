/** The audit log: who changed what, when and from where. Redis keeps the last 10,000 entries; with an archive, entries are also written to
 *  Postgres soon. Rejected attempts have a log of their own (rejection-log.ts), because anyone can cause ten thousand of them. */
import type { Principal } from '../../model/auth/access.ts';
import { Repository } from '../redis/repository.ts';

const MAX_ENTRIES = 10_000;

export interface AuditEntry {
  /** Unix milliseconds. */
  at: number;
  who: Pick<Principal, 'kind' | 'id' | 'name'>;
  /** A declared route (`POST /v1/webhooks`), or a name such as `sign-in`. */
  action: string;
  /** ID or name of the changed object, if there is one. */
  target?: string;
  /** Name of the object, if that is not its ID: its name when it was changed, or the email address of a user. */
  targetName?: string;
  environment?: string;
  /** Short description without secrets. */
  summary: string;
  ip: string;
  requestId: string;
}

export interface AuditPage {
  entries: StoredAuditEntry[];
  /** Position after which the next page begins; undefined on the last page. */
  next?: string | undefined;
  stoppedEarly?: 'archive_unavailable' | undefined;
}

export interface StoredAuditEntry extends AuditEntry {
  /** Increases with each entry. */
  id: string;
}

export class AuditLog extends Repository {
  async append(entry: AuditEntry): Promise<void> {
    await this.redis.appendAuditEntry(this.keys.auditLog, JSON.stringify(entry), MAX_ENTRIES);
  }

  /** Newest first.
   *  @param before ID of the last entry of the previous page */
  async list(limit: number, before?: string): Promise<AuditPage> {
    const from = before === undefined ? '+' : `(${before}`;
    const found = await this.redis.xrevrange(this.keys.auditLog, from, '-', 'COUNT', limit);
    const entries = found.map(([id, fields]) => ({ id, ...(JSON.parse(fields[1] as string) as AuditEntry) }));
    return { entries, next: entries.length === limit ? entries.at(-1)?.id : undefined };
  }

  /** Entries with their text, oldest first.
   *  @param from ID of the first entry, or its time */
  async oldest(from: string, limit: number): Promise<{ id: string; entry: string }[]> {
    const found = await this.redis.xrange(this.keys.auditLog, from, '+', 'COUNT', limit);
    return found.map(([id, fields]) => ({ id, entry: fields[1] as string }));
  }

  /** ID of the newest entry. */
  async newest(): Promise<string | undefined> {
    return (await this.redis.xrevrange(this.keys.auditLog, '+', '-', 'COUNT', 1))[0]?.[0];
  }

  /** ID up to which the archive is complete. */
  async archivedTo(): Promise<string | undefined> {
    return (await this.redis.get(this.keys.auditLogArchived)) ?? undefined;
  }

  /** Records that the archive has all entries up to an ID.
   *  @param hotFrom older entries are dropped (Unix milliseconds) */
  async noteArchived(to: string, hotFrom: number): Promise<void> {
    await this.redis.set(this.keys.auditLogArchived, to);
    await this.dropBefore(hotFrom);
  }

  async dropBefore(timeMs: number): Promise<void> {
    if (timeMs > 0) await this.redis.xtrim(this.keys.auditLog, 'MINID', timeMs);
  }
}
