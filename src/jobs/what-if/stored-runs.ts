/** Reads runs for a what-if: active ones in one state, past ones hot or archived. */
import type { History } from '../../history/history.ts';
import type { EventRecord } from '../../model/events/event.ts';
import type { HistoryEntry, Run } from '../../model/runs/run.ts';
import { hasEnded } from '../../model/runs/run.ts';
import type { Skip } from '../../model/what-if/what-if.ts';
import type { ActiveRun, FailedRun, KnownStep, PastRun, StoredRun } from './compare.ts';

export interface StoredRunsDeps {
  history: Pick<History, 'events' | 'runParts' | 'listedRuns' | 'wholeRuns'>;
}

export interface Found<R extends StoredRun> {
  run: Run;
  /** The first is the run's event. */
  events: readonly EventRecord[];
  steps: R;
}

export async function readActive(listed: Run, deps: StoredRunsDeps): Promise<Found<ActiveRun> | Skip> {
  const { env, id } = listed;
  const whole = await deps.history.wholeRuns.read(env, id);
  if (!whole || hasEnded(whole.run)) return 'ended';
  const { run, events, stack, memos, pending, history, answeredAt } = whole;
  if (!events) return 'event_gone';
  const known = knownSteps(history);
  for (const [stepId, { name, op }] of pending) known.set(stepId, { name, op });
  const steps = {
    stack,
    memos,
    known,
    pending,
    open: new Set(pending.keys()),
    isAnswered: answeredAt === stack.length,
    error: run.error,
  };
  return { run, events, steps };
}

/** @param output JSON text; null: the run has none */
export async function readPast(run: Run, output: string | null, deps: StoredRunsDeps): Promise<Found<PastRun> | Skip> {
  const found = await readEnded(run, deps);
  if (typeof found === 'string') return found;
  const { steps, history } = found;
  const open = new Set(history.flatMap(({ kind, status, stepId }) => (isOpen(kind, status) && stepId ? [stepId] : [])));
  return { ...found, steps: { ...steps, open, output: output ?? 'null' } };
}

export async function readFailed(run: Run, deps: StoredRunsDeps): Promise<Found<FailedRun> | Skip> {
  const found = await readEnded(run, deps);
  if (typeof found === 'string') return found;
  const { steps } = found;
  // Steps without a memo: failed or pending.
  const open = new Set([...steps.known.keys()].filter((id) => !Object.hasOwn(steps.memos, id)));
  return { ...found, steps: { ...steps, open, error: run.error ?? { name: '', message: '' } } };
}

async function readEnded(run: Run, deps: StoredRunsDeps) {
  const { env, id } = run;
  const { runParts } = deps.history;
  const [stack, memos, history, events] = await Promise.all([
    runParts.read(env, id, 'stack'),
    runParts.read(env, id, 'memos'),
    runParts.read(env, id, 'history'),
    eventsOf(run, deps),
  ]);
  if (!events) return 'event_gone' as const;
  if (stack.some((stepId) => !Object.hasOwn(memos, stepId))) return 'steps_gone' as const;
  return { run, events, history, steps: { stack, memos, known: knownSteps(history) } };
}

/** A step that was pending when its run ended. */
function isOpen(kind: HistoryEntry['kind'], status: HistoryEntry['status']): boolean {
  return kind === 'step' && status === 'Cancelled';
}

function knownSteps(history: readonly HistoryEntry[]): Map<string, KnownStep> {
  const known = new Map<string, KnownStep>();
  for (const { stepId, name, op, kind } of history) {
    if (stepId !== undefined && (kind === 'step' || !known.has(stepId)))
      known.set(stepId, { name: name ?? stepId, op });
  }
  return known;
}

/** undefined if any is no longer stored. */
async function eventsOf(
  { env, eventId, batch = [eventId] }: Run,
  { history }: StoredRunsDeps,
): Promise<EventRecord[] | undefined> {
  const found = (await history.events.records(env, batch)).filter((event) => event !== undefined);
  return found.length === batch.length ? found : undefined;
}
