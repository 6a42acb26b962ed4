/** Environments: each has its own events, functions, runs and deduplication IDs. */
import { z } from 'zod';

export const PRODUCTION = 'production';

/** Owner of keys and webhooks that all branch environments share. No environment can have this name. */
export const BRANCHES = '@branches';

/** The name of this owner in the API; also reserved. */
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
  /** When it was last unarchived. */
  reopenedAt?: number;
  /** Last use of a branch environment, to within a day. */
  usedAt?: number;
  /** Largest body of a request that sends events; absent: that of the installation. */
  eventMaxBytes?: number;
  /** How many days its events and ended runs are kept; absent: as the setting says. */
  retentionDays?: number;
  /** Start of its deletion with all data; it stays archived from then on. */
  deletingAt?: number;
}

/** Owner of the environment's keys and webhooks: the environment, or the set of all branches. */
export function ownerOf({ name, kind }: Environment): string {
  return kind === 'branch' ? BRANCHES : name;
}

/** @param environment that a name means; undefined: none, and it can only become a branch */
export function ownerOfName(environment: Environment | undefined): string {
  return environment ? ownerOf(environment) : BRANCHES;
}

/** Whether a name still means the environment to which a request has proven its right: another one may have been made under it meanwhile.
 *  @param proven undefined: there was none of this name; then it can only become a branch */
export function isStill(proven: Environment | undefined, present: Environment | undefined): boolean {
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
