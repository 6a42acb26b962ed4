/** Bulk cancellations as bulk operations: passes over the active runs of a function, until one has covered the whole time range. */
import { comparableRecordOf, payloadOf } from '../../model/events/event.ts';
import { tryCompile } from '../../model/expressions/expression.ts';
import type { CancelReason } from '../../model/runs/cancel-reason.ts';
import {
  type Cancellation,
  type CancellationDefinition,
  type CancellationPass,
  coversAll,
} from '../../model/runs/cancellation.ts';
import type { Run } from '../../model/runs/run.ts';
import type { BulkStore } from '../../store/bulk/store.ts';
import type { Store } from '../../store/store.ts';
import type { ExpressionEvaluator } from '../functions/expression-evaluator.ts';
import type { RunTransitions } from '../runs/state-transitions.ts';
import type { BulkWork } from './bulk-work.ts';

const RUNS_AT_ONCE = 100;
/** Time between passes while the range has not ended. */
const PASS_EVERY_MS = 15_000;
/** Time before the last pass. */
const SETTLING_MS = 2_000;

export interface CancellationWorkDeps {
  cancellations: BulkStore['cancellations'];
  runLists: Pick<Store['runLists'], 'activeOf'>;
  runs: Pick<Store['runs'], 'readMany' | 'readManyToChange'>;
  /** Includes archived events, which offloaded runs have. */
  events: Pick<Store['events'], 'records'>;
  evaluator: ExpressionEvaluator;
  transitions: Pick<RunTransitions, 'cancel'>;
}

export function cancellationWork(
  deps: CancellationWorkDeps,
): BulkWork<CancellationDefinition, CancellationPass | null> {
  return {
    operations: deps.cancellations,
    inArchivedEnvironments: 'continues',
    waitsFor: () => false,
    doPortion: (cancellation) => cancelSome(cancellation, deps),
  };
}

/** @returns milliseconds until the next portion */
async function cancelSome(cancellation: Cancellation, deps: CancellationWorkDeps): Promise<number> {
  const { env, definition, position } = cancellation;
  const now = Date.now();
  const startedAt = position?.startedAt ?? now;
  const timeRange = { after: definition.after, before: definition.before, cursor: position ?? undefined };
  const found = await deps.runLists.activeOf(env, definition.functionId, timeRange, RUNS_AT_ONCE);
  const cancelled = await cancelMatching(cancellation, found, deps);
  const last = found.length === RUNS_AT_ONCE ? found.at(-1) : undefined;
  const isDone = !last && coversAll(definition, startedAt);
  await deps.cancellations.save(cancellation, {
    position: last ? { startedAt, at: last.at, id: last.id } : null,
    counts: { cancelled },
    results: [],
    ...(isDone && { doneAt: now }),
  });
  if (last || isDone) return 0;
  return coversAll(definition, now + PASS_EVERY_MS) ? SETTLING_MS : PASS_EVERY_MS;
}

/** @returns number of cancelled runs */
async function cancelMatching(
  cancellation: Cancellation,
  found: readonly { id: string }[],
  deps: CancellationWorkDeps,
): Promise<number> {
  if (found.length === 0) return 0;
  const { env, id: cancellationId, definition } = cancellation;
  const { queuedOnly, expression } = definition;
  const ids = queuedOnly ? await queuedOf(env, found, deps) : found.map(({ id }) => id);
  const matching = expression === undefined ? ids : await idsThatMeet(cancellation, ids, deps);
  const reason: CancelReason = { cause: queuedOnly ? 'pause' : 'bulk_cancellation', id: cancellationId };
  let cancelled = 0;
  for (const id of matching) if ((await deps.transitions.cancel(env, id, reason))?.status === 'Cancelled') cancelled++;
  return cancelled;
}

async function queuedOf(
  env: string,
  found: readonly { id: string }[],
  { runs }: CancellationWorkDeps,
): Promise<string[]> {
  const ids = found.map(({ id }) => id);
  return (await runs.readMany(env, ids)).filter(({ status }) => status === 'Queued').map(({ id }) => id);
}

async function idsThatMeet(
  { env, definition: { functionId, expression: source = '', createdAt } }: Cancellation,
  ids: readonly string[],
  { runs, events, evaluator }: CancellationWorkDeps,
): Promise<string[]> {
  const read = await runs.readMany(env, ids);
  const payloads = await payloadsOf(env, read, events);
  // An offloaded run carries its event, which the archive may no longer have.
  const without = read.filter(({ eventId }) => !payloads.has(eventId)).map(({ id }) => id);
  if (without.length > 0) {
    const back = await runs.readManyToChange(env, without);
    for (const [id, payload] of await payloadsOf(env, back, events)) payloads.set(id, payload);
  }
  const expression = tryCompile(source);
  const matching: string[] = [];
  evaluator.startTurn();
  for (const { id, eventId } of read) {
    const event = payloads.get(eventId);
    if (event && evaluator.matches({ env, functionId, source, expression }, { event }, createdAt)) matching.push(id);
    if (evaluator.shouldYield) await evaluator.yieldTurn();
  }
  await evaluator.reportSkipped();
  return matching;
}

/** The result is keyed by event ID. */
async function payloadsOf(env: string, runs: readonly Run[], events: CancellationWorkDeps['events']) {
  const records = await events.records(env, [...new Set(runs.map(({ eventId }) => eventId))]);
  return new Map(
    records.flatMap((record) => (record ? [[record.internal_id, payloadOf(comparableRecordOf(record))]] : [])),
  );
}
