/** Ships audit entries to the archive soon after they are written. Their IDs increase, so an ID records the progress. The latest shipped
 *  entries are shipped again, because the clock of a replica that took over may be behind. */
import type { Archive } from '../../archive/archive.ts';
import { duty } from '../../duties/duty.ts';
import type { Store } from '../../store/store.ts';
import { LOG_SHIPPING, type LogShippingDeps, shippingRounds } from './log-shipping.ts';

const ENTRIES_AT_ONCE = 1_000;
/** Maximum number of rounds per call. */
const ROUNDS_MAX = 20;
const WINDOW_MS = 60_000;

export interface AuditShippingDeps extends Pick<Store, 'auditLog'> {
  archive: Pick<Archive, 'audit' | 'hotMs'>;
  /** Setting AUDIT_RETENTION_DAYS. */
  auditRetentionDays: number;
}

export const auditShipping = duty<AuditShippingDeps & LogShippingDeps>({
  ...LOG_SHIPPING,
  name: 'archive-audit',
  about: 'Moves the audit log to the archive',
  scope: 'installation',
  rounds: (deps) => shippingRounds('audit entries', deps, () => shipAuditEntries(deps)),
});

/** @returns number of entries added to the archive
 *  @throws ServiceError archive_unavailable */
export async function shipAuditEntries(deps: AuditShippingDeps): Promise<number> {
  const { auditLog, archive, auditRetentionDays } = deps;
  const [archivedTo, newest] = await Promise.all([auditLog.archivedTo(), auditLog.newest()]);
  const hotFrom = Date.now() - archive.hotMs;
  if (newest === undefined) return 0;
  if (newest === archivedTo) {
    await auditLog.dropBefore(Math.min(hotFrom, windowOf(archivedTo)));
    return 0;
  }
  let added = 0;
  let from = archivedTo === undefined ? '-' : String(windowOf(archivedTo));
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const entries = await auditLog.oldest(from, ENTRIES_AT_ONCE);
    const last = entries.at(-1)?.id;
    if (last === undefined) break;
    added += await archive.audit.ship(entries, auditRetentionDays);
    await auditLog.noteArchived(last, Math.min(hotFrom, windowOf(last)));
    if (entries.length < ENTRIES_AT_ONCE) break;
    from = `(${last}`;
  }
  return added;
}

/** Start of the entries that are shipped again. */
function windowOf(id: string): number {
  return Math.max(0, Number(id.split('-')[0]) - WINDOW_MS);
}
