/** Waits after the last fault until every acknowledged event has all its runs finished, and reports lost and stuck ones. */
import { setTimeout } from 'node:timers/promises';
import { SLEEPER } from '../load/bulk-work.ts';
import type { Acknowledged } from '../load/ledger.ts';
import type { Service } from '../service.ts';

const POLL_MS = 250;
const AT_ONCE = 8;

interface RunView {
  run_id: string;
  function_id: string;
  status: string;
  /** Of a re-run. */
  retry_of: string | null;
  error?: { name: string; message: string } | null;
}

export interface Recovery {
  seconds: number;
  /** IDs. */
  runs: string[];
  lost: string[];
  missing: string[];
  doubled: string[];
  stuck: string[];
  /** Failed runs of functions that must complete. */
  failed: string[];
}

type State = Omit<Recovery, 'seconds'>;

/** @param functionsOf the expected functions for an event name */
export async function recover(
  service: Service,
  events: Iterable<Acknowledged>,
  functionsOf: (name: string) => readonly string[],
  patienceMs: number,
): Promise<Recovery> {
  const startedAt = performance.now();
  const result: State = { runs: [], lost: [], missing: [], doubled: [], stuck: [], failed: [] };
  let pending = [...events];
  for (;;) {
    const isLast = performance.now() - startedAt > patienceMs;
    const again: Acknowledged[] = [];
    const queue = [...pending];
    const work = async () => {
      for (let event = queue.pop(); event; event = queue.pop()) {
        const found = await checkEvent(service, event, functionsOf(event.name));
        if (isPending(found) && !isLast) again.push(event);
        else add(result, found);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (again.length === 0) return { ...result, seconds: (performance.now() - startedAt) / 1_000 };
    pending = again;
    await setTimeout(POLL_MS);
  }
}

async function checkEvent(service: Service, event: Acknowledged, functions: readonly string[]): Promise<State> {
  const { internalId, name } = event;
  const what = `${name} ${internalId}`;
  const state: State = { runs: [], lost: [], missing: [], doubled: [], stuck: [], failed: [] };
  const runs = await service.get<RunView[]>(`/v1/events/${internalId}/runs`);
  if (!runs || !(await service.get(`/v1/events/${internalId}`))) return { ...state, lost: [what] };
  state.runs = runs.map(({ run_id }) => run_id);
  for (const fn of functions) {
    const ofFunction = runs.filter(({ function_id, retry_of }) => function_id === fn && retry_of === null);
    if (ofFunction.length === 0) state.missing.push(`${what}: no run of ${fn}`);
    if (ofFunction.length > 1) state.doubled.push(`${what}: ${ofFunction.length} runs of ${fn}`);
  }
  for (const { run_id, function_id, status, error } of runs) {
    const run = `${what}: run ${run_id} of ${function_id} is ${status}`;
    if (status === 'Queued' || status === 'Running') state.stuck.push(run);
    else if (status !== 'Completed' && !mayEnd(name, status))
      state.failed.push(`${run} (${error?.name}: ${error?.message})`);
  }
  return state;
}

/** Some responses of the hostile app fail a run permanently, and runs that sleep are cancelled, as intended. */
function mayEnd(name: string, status: string): boolean {
  return name === 'chaos/hostile' || (name === SLEEPER && status === 'Cancelled');
}

function isPending({ lost, missing, stuck }: State): boolean {
  return lost.length + missing.length + stuck.length > 0;
}

function add(result: State, found: State): void {
  for (const kind of ['runs', 'lost', 'missing', 'doubled', 'stuck', 'failed'] as const)
    result[kind].push(...found[kind]);
}
