/** The audit log, hot and archived. Redis has all entries newer than its oldest one. */
import type { ArchivedAudit } from '../archive/archived-audit.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { Composed } from '../model/values/composed.ts';
import type { AuditLog, AuditPage } from '../store/auth/audit-log.ts';

/** Above every ID in a cursor. */
const TOP = '999999999999999-0';

export class AuditLogHistory extends Composed<{ hot: AuditLog; archived: ArchivedAudit }> {
  /** Newest first.
   *  @param before ID of the last entry of the previous page */
  async list(limit: number, before?: string): Promise<AuditPage> {
    const hot = await this.deps.hot.list(limit, before);
    const { entries } = hot;
    if (entries.length === limit) return hot;
    const last = entries.at(-1)?.id ?? before;
    try {
      const archived = await this.deps.archived.list(limit - entries.length, last);
      const all = [...entries, ...archived];
      return { entries: all, next: all.length === limit ? all.at(-1)?.id : undefined };
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      return { entries, next: last ?? TOP, stoppedEarly: 'archive_unavailable' };
    }
  }
}
