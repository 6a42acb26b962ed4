/** Previous triggers of a function. They explain why an earlier event did not trigger it. */
import type { AppFunction, Trigger } from './app.ts';

/** Maximum number of changes kept per function. */
const CHANGES_MAX = 10;
const TRIGGERS_LENGTH_MAX = 2_048;

export interface PastTriggers {
  /** Time of the change, Unix milliseconds. */
  until: number;
  /** null if the function was unregistered or archived then; undefined if unknown. */
  triggers?: Triggers | null | undefined;
}

type Triggers = Pick<Trigger, 'event' | 'webhook' | 'expression'>[];

/** The triggers in force; null if the function is unregistered or archived. */
export function triggersOf(fn: AppFunction | undefined): Triggers | null {
  if (!fn || fn.archived) return null;
  return fn.triggers.flatMap(({ event, webhook, expression }) => {
    const what = webhook === undefined ? event !== undefined && { event } : { webhook };
    return what ? { ...what, ...(expression !== undefined && { expression }) } : [];
  });
}

/** @param history newest first
 *  @returns undefined if the triggers did not change */
export function nextHistory(
  history: readonly PastTriggers[],
  change: { known: AppFunction | undefined; given: AppFunction },
  nowMs: number,
): PastTriggers[] | undefined {
  const [before, after] = [triggersOf(change.known), triggersOf(change.given)];
  const text = JSON.stringify(before);
  if (text === JSON.stringify(after)) return undefined;
  const entries = [{ until: nowMs, ...(text.length <= TRIGGERS_LENGTH_MAX && { triggers: before }) }, ...history];
  const kept = entries.slice(0, CHANGES_MAX);
  const oldest = kept.at(-1);
  // The oldest entry also represents the dropped entries, so its triggers are unknown.
  return entries.length > CHANGES_MAX && oldest ? [...kept.slice(0, -1), { until: oldest.until }] : kept;
}

/** The triggers since a time, oldest first; the last entry is the current one. */
export function triggersSince(
  history: readonly PastTriggers[],
  fn: AppFunction | undefined,
  timeMs: number,
): PastTriggers['triggers'][] {
  const past = history.filter(({ until }) => until > timeMs).map(({ triggers }) => triggers);
  return [...past.reverse(), triggersOf(fn)];
}
