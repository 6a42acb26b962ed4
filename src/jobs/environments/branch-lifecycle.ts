/** The lifecycle of branch environments: an unused branch is archived, and deleted after as much time again. Deletion
 *  removes its data and then its record. Any worker does it, one at a time, and resumes where another stopped. */
import type { Archive } from '../../archive/archive.ts';
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import { archived, deleting, type Environment } from '../../model/environment.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';
import { removeJobsOf } from '../queues/environment-jobs.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';

/** Time until every process knows that the environment no longer accepts anything. */
const DELETION_DELAY_MS = 5_000;
const LOCK_MS = 60_000;

export interface BranchLifecycleDeps
  extends Pick<Store, 'environments' | 'environmentData' | 'apiKeys' | 'users' | 'apps' | 'auditLog'> {
  redis: Redis;
  queues: PartitionQueues;
  /** undefined without an archive. */
  archive: Pick<Archive, 'numbers'> | undefined;
  /** undefined if branches do not expire. */
  branchExpiryMs: number | undefined;
  log: Logger;
}

/** Long, because checking which branches are used costs a few reads each. */
const EXPIRY_CHECK_MS = 600_000;
/** Interval while an environment is being deleted, which takes at least two rounds. */
const DELETE_AGAIN_MS = 1_000;

export const branchExpiry = duty<BranchLifecycleDeps>({
  name: 'branch-expiry',
  about: 'Archives unused branch environments, and deletes them later',
  scope: 'installation',
  everyMs: {
    of: ({ branchExpiryMs = EXPIRY_CHECK_MS }) => Math.min(EXPIRY_CHECK_MS, branchExpiryMs),
    inWords: '10 min, `BRANCH_EXPIRY_DAYS` at most',
  },
  leaseMs: LOCK_MS,
  isWanted: ({ branchExpiryMs }) => branchExpiryMs !== undefined,
  rounds: (deps) => () => expireBranches(deps, deps.branchExpiryMs as number, Date.now()),
});

export const environmentDeletion = duty<BranchLifecycleDeps>({
  name: 'environment-deletion',
  about: 'Deletes the data of branch environments, and then their records',
  scope: 'installation',
  everyMs: 5_000,
  leaseMs: LOCK_MS,
  lastRoundMs: Number.POSITIVE_INFINITY,
  rounds:
    (deps) =>
    async ({ signal }) =>
      (await deleteEnvironments(deps, signal, Date.now())) ? DELETE_AGAIN_MS : undefined,
});

/** @param expiryMs a branch unused for this long is archived, and deleted after the same time again */
async function expireBranches(deps: BranchLifecycleDeps, expiryMs: number, nowMs: number): Promise<void> {
  for (const branch of await deps.environments.all()) {
    if (branch.kind !== 'branch' || branch.deletingAt !== undefined) continue;
    const isExpired = (since: number) => nowMs - since >= expiryMs;
    if (branch.archivedAt !== undefined) {
      if (isExpired(branch.archivedAt)) await expire(branch, 'deleted', deps, nowMs);
      continue;
    }
    const usedAt = await lastUsedAt(branch, deps, nowMs);
    if (isExpired(usedAt)) await expire(branch, 'archived', deps, nowMs);
    else await recordUse(branch, usedAt, Math.min(DAY_MS, expiryMs / 4), deps);
  }
}

/** When it last had an event or a registration, or was created or reopened; now if a run is active. */
async function lastUsedAt(
  branch: Environment,
  { apps, environmentData }: BranchLifecycleDeps,
  nowMs: number,
): Promise<number> {
  const { name, createdAt, reopenedAt = 0, usedAt = 0 } = branch;
  const [registered, { receivedAt, activeRuns }] = await Promise.all([apps.all(name), environmentData.usage(name)]);
  if (activeRuns > 0) return nowMs;
  return Math.max(createdAt, reopenedAt, usedAt, receivedAt, ...registered.map(({ lastSync }) => lastSync.at));
}

/** Stored in the record, because events may expire before an unused branch does. */
async function recordUse(
  branch: Environment,
  usedAt: number,
  everyMs: number,
  deps: BranchLifecycleDeps,
): Promise<void> {
  if (usedAt - Math.max(branch.createdAt, branch.usedAt ?? 0) < everyMs) return;
  await deps.environments.change(branch.name, (now) => ({ ...now, usedAt }));
}

async function expire(
  branch: Environment,
  what: 'archived' | 'deleted',
  { environments, auditLog, log }: BranchLifecycleDeps,
  nowMs: number,
): Promise<void> {
  let changed = false;
  await environments.change(branch.name, (now) => {
    // A user may have just archived or reopened it.
    changed = now.archivedAt === branch.archivedAt && now.reopenedAt === branch.reopenedAt && !now.deletingAt;
    if (!changed) return now;
    return what === 'archived' ? archived(now, nowMs) : deleting(now, nowMs);
  });
  if (!changed) return;
  log.info({ environment: branch.name }, `branch ${what}: unused for BRANCH_EXPIRY_DAYS`);
  const who = { kind: 'setting', id: 'BRANCH_EXPIRY_DAYS', name: 'the setting BRANCH_EXPIRY_DAYS' } as const;
  const entry = { who, target: branch.name, summary: `The branch was unused and is ${what}`, ip: '', requestId: '' };
  await auditLog.append({ ...entry, at: nowMs, action: `branch-${what}` });
}

/** One round over all environments that are being deleted. A round that finds nothing more removes the record.
 *  @returns whether environments are being deleted */
async function deleteEnvironments(deps: BranchLifecycleDeps, signal: AbortSignal, nowMs: number): Promise<boolean> {
  const due = (await deps.environments.all()).filter(
    (environment) => environment.kind === 'branch' && environment.deletingAt !== undefined,
  );
  for (const { name, deletingAt = nowMs } of due) {
    if (nowMs - deletingAt < DELETION_DELAY_MS || signal.aborted) continue;
    await deleteData(name, deps, signal);
  }
  return due.length > 0;
}

async function deleteData(env: string, deps: BranchLifecycleDeps, signal: AbortSignal): Promise<void> {
  const isForgotten = await forgetArchived(env, deps);
  for (const { id, environment } of await deps.apiKeys.all()) if (environment === env) await deps.apiKeys.revoke(id);
  await forgetRoles(env, deps);
  const jobs = await removeJobsOf(env, deps.redis, deps.queues, signal);
  const keys = await deps.environmentData.deleteAll(env, signal);
  if (signal.aborted) return;
  deps.log.info({ environment: env, jobs, keys }, 'deleted data of an environment');
  // An archiver may have shipped data in the meantime that it had read before.
  if (jobs + keys === 0 && isForgotten && (await forgetArchived(env, deps))) await deps.environments.remove(env);
}

/** Another environment may get the name. */
async function forgetRoles(env: string, { users }: BranchLifecycleDeps): Promise<void> {
  for (const { id, environmentRoles = {} } of await users.all()) {
    if (!Object.hasOwn(environmentRoles, env)) continue;
    await users.change(id, ({ environmentRoles: { [env]: _, ...others } = {}, ...user }) => ({
      ...user,
      environmentRoles: others,
    }));
  }
}

/** Hides the archived data; it leaves Postgres with its days (jobs/archive/day-maintenance.ts). @returns false if
 *  Postgres is unavailable; a later round repeats this */
async function forgetArchived(env: string, { archive, log }: BranchLifecycleDeps): Promise<boolean> {
  try {
    await archive?.numbers.forgetEnvironment(env, Date.now());
    return true;
  } catch (error) {
    log.debug({ environment: env, err: (error as Error).message }, 'archived data of a deleted environment remains');
    return false;
  }
}
