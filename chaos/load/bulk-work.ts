/** Bulk actions while faults are injected: finished runs are re-run, and runs that sleep are cancelled. */
import { OFFLOADED_MS, RERUN_FUNCTION, SLEEPER_FUNCTION } from '../apps/limits.ts';
import type { Service } from '../service.ts';
import { everyMs } from './periodic.ts';

export const RERUN = 'chaos/bulk';
/** Its runs sleep until they are cancelled. */
export const SLEEPER = 'chaos/sleeper';
export const BULK_PATH = '/v1/runs/bulk';

const EVERY_MS = 5_000;
const RUNS_AT_ONCE = 100;
/** Re-runs per second: an action takes some seconds, so that faults hit it. */
const RATE = 8;

export interface BulkRun {
  run_id: string;
  status: string;
  retry_of: string | null;
  cancel_reason: { id: string } | null;
}

export interface BulkActionView {
  id: string;
  action: string;
  status: string;
  progress: { done: number; skipped: Record<string, number> };
}

export interface BulkResult {
  run_id: string;
  rerun_id: string | null;
}

export class BulkWork {
  /** As they were last seen, by ID; the service keeps a limited number. */
  readonly actions = new Map<string, BulkActionView>();
  /** Results of finished re-runs, by ID: the service drops them with the action. */
  readonly results = new Map<string, BulkResult[]>();
  readonly #service: Service;
  readonly #rerun = new Set<string>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** @param isSending while false, nothing is re-run any more */
  async keepWorking(isSending: () => boolean, isOver: () => boolean): Promise<void> {
    await everyMs(EVERY_MS, isOver, async () => {
      if (isSending()) await this.#rerunFinished();
      // Meanwhile they leave Redis.
      const before = new Date(Date.now() - (isSending() ? OFFLOADED_MS : 0)).toISOString();
      await this.#begin({ action: 'cancel', filter: { function_id: SLEEPER_FUNCTION, queued_before: before } });
      await this.look();
    });
  }

  /** @returns whether all actions are over */
  async look(): Promise<boolean> {
    const all = await this.#service.list<BulkActionView>(`${BULK_PATH}?limit=100`);
    for (const one of all) this.actions.set(one.id, one);
    for (const { id, action, status } of all) {
      if (action !== 'retry' || status !== 'done' || this.results.has(id)) continue;
      this.results.set(id, await this.#service.list<BulkResult>(`${BULK_PATH}/${id}/results?limit=100`));
    }
    return all.every(({ status }) => status === 'done');
  }

  async #rerunFinished(): Promise<void> {
    const path = `/v1/runs?function_id=${RERUN_FUNCTION}&status=Completed&limit=${RUNS_AT_ONCE}`;
    const runs = (await this.#service.get<BulkRun[]>(path)) ?? [];
    const ids = runs.flatMap(({ run_id, retry_of }) => (retry_of || this.#rerun.has(run_id) ? [] : [run_id]));
    if (ids.length === 0) return;
    if (await this.#begin({ action: 'retry', filter: { run_ids: ids }, rate: RATE }))
      for (const id of ids) this.#rerun.add(id);
  }

  /** @returns false: the service is away, or has too many already; a response may have been lost */
  async #begin(body: object): Promise<boolean> {
    return this.#service.post(BULK_PATH, body).then(
      () => true,
      () => false,
    );
  }
}
