/** Environments: each has its own events, functions, runs and deduplication IDs. */
import { z } from 'zod';

export const PRODUCTION = 'production';

/** What keys and webhooks that all branch environments share belong to. No environment can have this name. */
export const BRANCHES = '@branches';

/** How callers name the same; taken, too. */
export const BRANCH_SET = 'branches';

export const ENVIRONMENT_KINDS = ['production', 'named', 'branch'] as const;
export type EnvironmentKind = (typeof ENVIRONMENT_KINDS)[number];

/** A name is part of keys in Redis and travels in headers. */
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
  /** An archived environment refuses new events; what it has stays readable. */
  archivedAt?: number;
  /** When it was last taken out of the archive. */
  reopenedAt?: number;
  /** When it was last seen to be used, of a branch: to within a day. */
  usedAt?: number;
  /** Since when it is being deleted with all that it has; archived from then on, too, and for good. */
  deletingAt?: number;
}

/** What keys, webhooks and signing keys of the environment belong to: itself, or the set of all branches. */
export function ownerOf({ name, kind }: Environment): string {
  return kind === 'branch' ? BRANCHES : name;
}

/** It refuses new events from then on; one that does already stays as it is. */
export function archived(environment: Environment, nowMs: number): Environment {
  return { ...environment, archivedAt: environment.archivedAt ?? nowMs };
}

/** From then on it is deleted with all that it has. */
export function deleting(environment: Environment, nowMs: number): Environment {
  return { ...archived(environment, nowMs), deletingAt: environment.deletingAt ?? nowMs };
}
