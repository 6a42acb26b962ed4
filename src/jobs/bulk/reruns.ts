/** Finds runs that have been re-run already, so that a bulk re-run does no work twice: a later run of the same
 *  function on the same event has completed or is active. */
import type { History } from '../../history/history.ts';
import type { BulkSkipReason } from '../../model/runs/bulk-action.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { Composed } from '../../model/values/composed.ts';

/** Maximum number of events read at once: each may have runs of many functions. */
const EVENTS_AT_ONCE = 100;

export type RerunSkip = Extract<BulkSkipReason, 'already_rerun' | 'run_active'>;

interface Wanted {
  /** Re-runs queued since this time count however they ended, so that a bulk action does not repeat its own re-runs. */
  sinceMs?: number;
  /** Pairs of function and event of which a run is re-run: other runs of a pair are left out. `of` adds the pairs of the given runs. */
  taken?: Set<string>;
  whenUnavailable: 'hot' | 'throw';
}

export class Reruns extends Composed<{ history: Pick<History, 'runs' | 'runLists'> }> {
  /** @param runs of one environment, newest first
   *  @returns why runs are left out, by ID
   *  @throws ServiceError archive_unavailable */
  async of(env: string, runs: readonly Run[], wanted: Wanted): Promise<Map<string, RerunSkip>> {
    const active = runs.filter((run) => !hasEnded(run));
    const skips = new Map(active.map(({ id }): [string, RerunSkip] => [id, 'run_active']));
    for (const some of chunksOf(runs.filter(hasEnded), EVENTS_AT_ONCE)) await this.#add(skips, env, some, wanted);
    return skips;
  }

  async #add(skips: Map<string, RerunSkip>, env: string, runs: readonly Run[], wanted: Wanted): Promise<void> {
    const { sinceMs, taken, whenUnavailable } = wanted;
    const { runLists, runs: stored } = this.deps.history;
    const eventIds = [...new Set(runs.map(({ eventId }) => eventId))];
    const briefs = await runLists.briefsByEvent(env, eventIds, whenUnavailable);
    const byEvent = new Map(eventIds.map((id, i) => [id, briefs[i] ?? []]));
    const others = runs.map(({ id, eventId, functionId }) => {
      const all = byEvent.get(eventId)?.filter((brief) => brief.functionId === functionId) ?? [];
      return { count: all.length, later: all.slice(all.findIndex((brief) => brief.id === id) + 1) };
    });
    const latest = sinceMs === undefined ? [] : others.flatMap(({ later }) => later.at(-1)?.id ?? []);
    const queuedAt = new Map((await stored.readMany(env, latest)).map((run) => [run.id, run.queuedAt]));
    for (const [i, { id, eventId, functionId }] of runs.entries()) {
      const { count, later } = others[i] as (typeof others)[number];
      const isSince = (queuedAt.get(later.at(-1)?.id ?? '') ?? 0) >= (sinceMs ?? Number.POSITIVE_INFINITY);
      const work = `${eventId} ${functionId}`;
      if (later.some((brief) => !hasEnded(brief))) skips.set(id, 'run_active');
      else if (later.some(({ status }) => status === 'Completed') || isSince || taken?.has(work)) {
        skips.set(id, 'already_rerun');
      } else if (count > 1) taken?.add(work);
    }
  }
}
