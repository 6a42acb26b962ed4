/** What becomes of branch environments: one that nobody uses is archived, and deleted when it has been archived for as long; one that is to be
 *  deleted loses all that it has, and then its name. Any worker may do it, one at a time, and go on where another ended. */
import type { Logger } from '../../log.ts';
import { archived, deleting, type Environment } from '../../model/environment.ts';
import type { Apps } from '../../store/apps/apps.ts';
import type { ApiKeys } from '../../store/auth/api-keys.ts';
import type { AuditLog } from '../../store/auth/audit-log.ts';
import type { EnvironmentData } from '../../store/environments/environment-data.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Redis } from '../../store/redis/connection.ts';
import type { Locks } from '../../store/redis/locks.ts';
import { removeJobsOf } from '../queues/environment-jobs.ts';
import type { IngestQueue, RunQueue } from '../queues/queues.ts';

/** Until every process has heard that the environment takes nothing any more. */
const SETTLE_MS = 5_000;
const LOCK_MS = 60_000;
const DAY_MS = 86_400_000;

export interface BranchDeps {
  redis: Redis;
  environments: Environments;
  environmentData: EnvironmentData;
  apiKeys: ApiKeys;
  apps: Apps;
  auditLog: AuditLog;
  locks: Locks;
  queues: [IngestQueue, RunQueue];
  log: Logger;
}

/** @param expiryMs a branch that is not used for so long is archived, and then deleted */
export async function expireBranches(deps: BranchDeps, expiryMs: number, nowMs: number): Promise<void> {
  for (const branch of await deps.environments.all()) {
    if (branch.kind !== 'branch' || branch.deletingAt !== undefined) continue;
    const over = (since: number) => nowMs - since >= expiryMs;
    if (branch.archivedAt !== undefined) {
      if (over(branch.archivedAt)) await expire(branch, 'deleted', deps, nowMs);
      continue;
    }
    const usedAt = await lastUsed(branch, deps, nowMs);
    if (over(usedAt)) await expire(branch, 'archived', deps, nowMs);
    else await noteUse(branch, usedAt, Math.min(DAY_MS, expiryMs / 4), deps);
  }
}

/** An event, a registration, a run that has not ended, or that it was made or opened again. */
async function lastUsed(branch: Environment, { apps, environmentData }: BranchDeps, nowMs: number): Promise<number> {
  const { name, createdAt, reopenedAt = 0, usedAt = 0 } = branch;
  const [registered, { receivedAt, activeRuns }] = await Promise.all([apps.all(name), environmentData.usage(name)]);
  if (activeRuns > 0) return nowMs;
  return Math.max(createdAt, reopenedAt, usedAt, receivedAt, ...registered.map(({ lastSync }) => lastSync.at));
}

/** Events are not stored for as long as a branch may be unused. */
async function noteUse(branch: Environment, usedAt: number, everyMs: number, deps: BranchDeps): Promise<void> {
  if (usedAt - Math.max(branch.createdAt, branch.usedAt ?? 0) < everyMs) return;
  await deps.environments.change(branch.name, (now) => ({ ...now, usedAt }));
}

async function expire(
  branch: Environment,
  what: 'archived' | 'deleted',
  { environments, auditLog, log }: BranchDeps,
  nowMs: number,
): Promise<void> {
  let changed = false;
  await environments.change(branch.name, (now) => {
    // Somebody has archived it, or opened it again, a moment ago.
    changed = now.archivedAt === branch.archivedAt && now.reopenedAt === branch.reopenedAt && !now.deletingAt;
    if (!changed) return now;
    return what === 'archived' ? archived(now, nowMs) : deleting(now, nowMs);
  });
  if (!changed) return;
  log.info({ environment: branch.name }, `branch ${what}: it was not used for BRANCH_EXPIRY_DAYS`);
  const who = { kind: 'setting', id: 'BRANCH_EXPIRY_DAYS', name: 'the setting BRANCH_EXPIRY_DAYS' } as const;
  const entry = { who, target: branch.name, summary: `The branch was not used and is ${what}`, ip: '', requestId: '' };
  await auditLog.append({ ...entry, at: nowMs, action: `branch-${what}` });
}

/** One round at every environment that is to be deleted. A round that finds nothing more is its last.
 *  @returns whether there are any */
export async function deleteEnvironments(deps: BranchDeps, signal: AbortSignal, nowMs: number): Promise<boolean> {
  const due = (await deps.environments.all()).filter((one) => one.kind === 'branch' && one.deletingAt !== undefined);
  for (const { name, deletingAt = nowMs } of due) {
    if (nowMs - deletingAt < SETTLE_MS || signal.aborted) continue;
    await deps.locks.withLock(`environment-deletion:${name}`, LOCK_MS, () => deleteData(name, deps, signal));
  }
  return due.length > 0;
}

async function deleteData(env: string, deps: BranchDeps, signal: AbortSignal): Promise<void> {
  for (const { id, environment } of await deps.apiKeys.all()) if (environment === env) await deps.apiKeys.revoke(id);
  const jobs = await removeJobsOf(env, deps.redis, deps.queues, signal);
  const keys = await deps.environmentData.deleteAll(env, signal);
  if (signal.aborted) return;
  deps.log.info({ environment: env, jobs, keys }, 'deleted of an environment');
  if (jobs + keys === 0) await deps.environments.remove(env);
}
