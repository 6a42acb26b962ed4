/** Environments: each has its own events, functions, runs and deduplication IDs. */
import { z } from 'zod';

export const PRODUCTION = 'production';

/** Owner of keys and webhooks shared by all branch environments. No environment can have this name. */
export const BRANCHES = '@branches';

/** Name of that owner in the API; reserved as well. */
export const BRANCH_SET = 'branches';

export const ENVIRONMENT_KINDS = ['production', 'named', 'branch'] as const;
export type EnvironmentKind = (typeof ENVIRONMENT_KINDS)[number];

/** Names are part of Redis keys and headers. */
export const environmentNameSchema = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z0-9][\w.-]*(?:\/[\w.-]+)*$/,
    'letters, digits, "_", ".", "-" and "/" between them; at most 64 characters',
  )
  .refine((name) => name !== BRANCH_SET, `"${BRANCH_SET}" means all branch environments together`);

export interface Environment {
  name: string;
  kind: EnvironmentKind;
  /** Unix milliseconds. */
  createdAt: number;
  /** An archived environment rejects new events; its data stays readable. */
  archivedAt?: number;
  /** The time at which it was last unarchived. */
  reopenedAt?: number;
  /** Last use of a branch environment, to within a day. */
  usedAt?: number;
  /** Maximum body size of requests that send events; absent: the installation's limit. */
  eventMaxBytes?: number;
  /** Days for which events and ended runs are kept; absent: as the setting says. */
  retentionDays?: number;
  /** The time at which the deletion of the environment and all its data began; it stays archived from then on. */
  deletingAt?: number;
}

/** The environment that something concerns, as rules of access see it. */
export type EnvironmentRef = Pick<Environment, 'name' | 'kind'>;

/** The environment that an object belongs to; unknown if it is deleted. */
export type Owner = EnvironmentRef | 'unknown';

/** @param environment the environment of that name; undefined: none exists, so the name can only become a branch */
export function refOf(name: string, environment: EnvironmentRef | undefined): EnvironmentRef {
  if (name === PRODUCTION) return { name, kind: 'production' };
  return { name, kind: environment?.kind ?? 'branch' };
}

/** @param owner of a key or a webhook: an environment with keys of its own, or BRANCHES */
export function refOfOwner(owner: string): EnvironmentRef {
  if (owner === BRANCHES) return { name: BRANCH_SET, kind: 'branch' };
  return { name: owner, kind: owner === PRODUCTION ? 'production' : 'named' };
}

/** Owner of the environment's keys and webhooks: the environment, or the set of all branches. */
export function ownerOf({ name, kind }: EnvironmentRef): string {
  return kind === 'branch' ? BRANCHES : name;
}

/** @param environment the environment of that name; undefined: none exists, so the name can only become a branch */
export function ownerOfName(environment: Environment | undefined): string {
  return environment ? ownerOf(environment) : BRANCHES;
}

/** Whether a name still means the environment for which a request was authenticated: it may have been deleted and created again since. @param
 *  proven undefined if no environment had this name, which can then only become a branch */
export function isSameEnvironment(proven: Environment | undefined, present: Environment | undefined): boolean {
  if (proven === undefined) return present === undefined || present.kind === 'branch';
  return proven.createdAt === present?.createdAt && proven.kind === present.kind;
}

/** Keeps the time of an earlier archiving. */
export function archived(environment: Environment, nowMs: number): Environment {
  return { ...environment, archivedAt: environment.archivedAt ?? nowMs };
}

/** Schedules the environment for deletion with all data. */
export function deleting(environment: Environment, nowMs: number): Environment {
  return { ...archived(environment, nowMs), deletingAt: environment.deletingAt ?? nowMs };
}
