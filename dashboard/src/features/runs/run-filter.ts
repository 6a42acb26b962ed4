/** Whether a run of a live update meets the filters of a list. Pure. */

import { parseTime } from '../../lib/time-range.ts';
import { hasEnded, type ListedRun } from './run.ts';
import { statesOf } from './status-filter.ts';

export interface RunFilters {
  /** An expression, or a text to look for. */
  q?: string | undefined;
  /** A text in the error. */
  error?: string | undefined;
  /** The fingerprint of an error group. */
  fingerprint?: string | undefined;
  /** A status or a state (status-filter.ts). */
  status?: string | undefined;
  function?: string | undefined;
  app?: string | undefined;
  /** Kinds of functions that are left out, as the API has them (use-excluded.ts). */
  exclude?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** What a list knows of functions. */
export interface KnownFunctions {
  /** undefined: unknown. */
  appOf(functionId: string): string | undefined;
  /** Those that `exclude` leaves out. */
  excluded?: ReadonlySet<string> | undefined;
}

/** @returns undefined: the update does not say */
export function meetsFilters(
  run: Pick<ListedRun, 'status' | 'state' | 'function_id' | 'queued_at'>,
  { q, error, fingerprint, status, function: functionId, app, exclude, from, to }: RunFilters,
  { appOf, excluded }: KnownFunctions,
  nowMs: number,
): boolean | undefined {
  const queuedAt = Date.parse(run.queued_at);
  const after = parseTime(from, nowMs);
  const before = parseTime(to, nowMs);
  const states = statesOf(status);
  if (states && (hasEnded(run) || (run.state && !states.includes(run.state.kind)))) return false;
  if (status !== undefined && !states && run.status !== status) return false;
  if (functionId !== undefined && !isLike(run.function_id, functionId)) return false;
  if (exclude !== undefined && excluded?.has(run.function_id)) return false;
  if (after !== undefined && queuedAt < Date.parse(after)) return false;
  if (before !== undefined && queuedAt >= Date.parse(before)) return false;
  const itsApp = app === undefined ? app : appOf(run.function_id);
  if (itsApp !== app && itsApp !== undefined) return false;
  const isSearch = q !== undefined || error !== undefined || fingerprint !== undefined;
  const isUnknown = states !== undefined && run.state === undefined;
  return isSearch || itsApp !== app || isUnknown ? undefined : true;
}

/** `shop-*` */
function isLike(text: string, wanted: string): boolean {
  return text === wanted || (wanted.endsWith('*') && text.startsWith(wanted.slice(0, -1)));
}
