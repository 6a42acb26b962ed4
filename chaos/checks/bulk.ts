/** Compares what bulk actions say that they did with the runs: each is re-run, or cancelled, and counted once. */
import { setTimeout } from 'node:timers/promises';
import { RERUN_FUNCTION, SLEEPER_FUNCTION } from '../apps/limits.ts';
import type { BulkActionView, BulkResult, BulkRun, BulkWork } from '../load/bulk-work.ts';
import type { Service } from '../service.ts';

const POLL_MS = 250;

export async function checkBulk(service: Service, bulk: BulkWork, patienceMs: number): Promise<string[]> {
  const startedAt = performance.now();
  while (!(await bulk.look()) && performance.now() - startedAt < patienceMs) await setTimeout(POLL_MS);
  const actions = [...bulk.actions.values()];
  const runsOf = (fn: string) => service.list<BulkRun>(`/v1/runs?function_id=${fn}&limit=100`);
  return [
    ...actions.flatMap(({ id, status }) => (status === 'done' ? [] : [`bulk action ${id} is ${status}`])),
    ...compareReruns(actions, bulk.results, await runsOf(RERUN_FUNCTION)),
    ...compareCancelled(actions, await runsOf(SLEEPER_FUNCTION)),
  ];
}

export function compareReruns(
  actions: readonly BulkActionView[],
  results: ReadonlyMap<string, readonly BulkResult[]>,
  runs: readonly BulkRun[],
): string[] {
  const findings: string[] = [];
  const reruns = new Map(runs.flatMap((run) => (run.retry_of ? [[run.run_id, run] as const] : [])));
  for (const { id, progress } of actions) {
    const started = results.get(id)?.filter(({ rerun_id }) => rerun_id !== null);
    if (!started) continue;
    if (started.length !== progress.done) findings.push(`${id}: counts ${progress.done} of ${started.length} re-runs`);
    for (const { run_id, rerun_id } of started) {
      const rerun = reruns.get(rerun_id ?? '');
      if (rerun?.retry_of !== run_id) findings.push(`${id}: run ${run_id} has no re-run ${rerun_id}`);
      reruns.delete(rerun_id ?? '');
    }
  }
  return [...findings, ...[...reruns.keys()].map((id) => `re-run ${id} is of no bulk action`)];
}

export function compareCancelled(actions: readonly BulkActionView[], runs: readonly BulkRun[]): string[] {
  const ofActions = Map.groupBy(runs, ({ cancel_reason }) => cancel_reason?.id ?? '');
  return actions.flatMap(({ id, action, progress: { done } }) => {
    const count = ofActions.get(id)?.length ?? 0;
    return action !== 'cancel' || count === done ? [] : [`${id}: counts ${done} of ${count} cancelled runs`];
  });
}
