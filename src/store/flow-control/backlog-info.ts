/** The record of a backlog in Redis: JSON with names of one letter, because there may be many. Scripts read it, too (lua/lib/admission.lua). */
import type { Limit, LimitKind } from '../../model/flow-control/limits.ts';

export type BacklogLimit = Pick<Limit, 'id' | 'kind' | 'limit' | 'intervalMs' | 'toleranceMs'>;

export interface BacklogInfo {
  env: string;
  functionId: string;
  /** Whether its calls start runs. */
  startsRuns: boolean;
  /** Key values by expression. */
  keys: Record<string, string>;
  limits: readonly BacklogLimit[];
}

const LETTERS = { run: 'r', step: 's', throttle: 't' } as const satisfies Record<LimitKind, string>;
const KINDS = { r: 'run', s: 'step', t: 'throttle' } as const satisfies Record<string, LimitKind>;

type StoredLimit = [id: string, kind: keyof typeof KINDS, limit: number, intervalMs?: number, toleranceMs?: number];

interface Stored {
  e: string;
  f: string;
  s?: 1;
  v?: Record<string, string>;
  l: StoredLimit[];
}

export function writeBacklogInfo({ env, functionId, startsRuns, keys, limits }: BacklogInfo): string {
  const stored: Stored = {
    e: env,
    f: functionId,
    ...(startsRuns && { s: 1 }),
    ...(Object.keys(keys).length > 0 && { v: keys }),
    l: limits.map(({ id, kind, limit, intervalMs, toleranceMs }) =>
      intervalMs === undefined || toleranceMs === undefined
        ? [id, LETTERS[kind], limit]
        : [id, LETTERS[kind], limit, intervalMs, toleranceMs],
    ),
  };
  return JSON.stringify(stored);
}

export function readBacklogInfo(text: string): BacklogInfo {
  const { e, f, s, v, l } = JSON.parse(text) as Stored;
  const limits = l.map(([id, kind, limit, intervalMs, toleranceMs]) => ({
    ...{ id, kind: KINDS[kind], limit },
    ...(intervalMs !== undefined && toleranceMs !== undefined && { intervalMs, toleranceMs }),
  }));
  return { env: e, functionId: f, startsRuns: s === 1, keys: v ?? {}, limits };
}
