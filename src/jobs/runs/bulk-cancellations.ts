/** Carries out bulk cancellations. Any worker does it, some runs at a time, so that cancellations of one environment do not hold up another's;
 *  it resumes where another worker stopped. */
import { payloadOf } from '../../model/events/event.ts';
import { compile, type Expression } from '../../model/expressions/expression.ts';
import type { CancelReason } from '../../model/runs/cancel-reason.ts';
import { type Cancellation, coversAll } from '../../model/runs/cancellation.ts';
import type { Events } from '../../store/events/events.ts';
import type { Locks } from '../../store/redis/locks.ts';
import type { Cancellations } from '../../store/runs/cancellations.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { ExpressionEvaluator } from '../ingestion/expression-evaluator.ts';
import type { RunTransitions } from './state-transitions.ts';

/** Cancellations of one round, and runs that each looks at in its turn. */
const CANCELLATIONS_AT_ONCE = 20;
const RUNS_AT_ONCE = 100;
const LOCK_MS = 30_000;
/** Between passes over the runs of a range that has not ended. */
const PASS_EVERY_MS = 15_000;
/** Before the last pass. */
const SETTLING_MS = 2_000;

export interface BulkCancellationDeps {
  cancellations: Cancellations;
  runs: Runs;
  events: Events;
  evaluator: ExpressionEvaluator;
  transitions: RunTransitions;
  locks: Locks;
}

/** One round. @returns whether there is more to do at once */
export async function carryOutCancellations(deps: BulkCancellationDeps, signal: AbortSignal): Promise<boolean> {
  const due = await deps.cancellations.due(Date.now(), CANCELLATIONS_AT_ONCE);
  for (const { env, id } of due) {
    if (signal.aborted) return false;
    await deps.locks.withLock(`cancellation:${env}/${id}`, LOCK_MS, () => carryOn(env, id, deps));
  }
  return due.length > 0;
}

async function carryOn(env: string, id: string, deps: BulkCancellationDeps): Promise<void> {
  const { cancellations } = deps;
  const cancellation = await cancellations.read(env, id);
  if (!cancellation) return cancellations.save(env, id, undefined, undefined);
  const now = Date.now();
  const { pass, ...rest } = cancellation;
  const startedAt = pass?.startedAt ?? now;
  const timeRange = { after: rest.after, before: rest.before, cursor: pass?.position };
  const found = await cancellations.activeRuns(cancellation, timeRange, RUNS_AT_ONCE);
  const cancelledRuns = rest.cancelledRuns + (await cancelMatching(cancellation, found, deps));
  const progress = { ...rest, cancelledRuns };
  const position = found.at(-1);
  if (position && found.length === RUNS_AT_ONCE) {
    return cancellations.save(env, id, { ...progress, pass: { startedAt, position } }, now);
  }
  if (coversAll(cancellation, startedAt)) return cancellations.save(env, id, { ...progress, doneAt: now }, undefined);
  const isSettling = coversAll(cancellation, now + PASS_EVERY_MS);
  return cancellations.save(env, id, progress, now + (isSettling ? SETTLING_MS : PASS_EVERY_MS));
}

/** @returns how many it cancelled */
async function cancelMatching(
  cancellation: Cancellation,
  found: readonly { id: string }[],
  deps: BulkCancellationDeps,
): Promise<number> {
  if (found.length === 0) return 0;
  const { env, id: cancellationId } = cancellation;
  const ids = cancellation.queuedOnly ? await queuedOf(env, found, deps) : found.map(({ id }) => id);
  const matching = cancellation.expression === undefined ? ids : await idsThatMeet(cancellation, ids, deps);
  const reason: CancelReason = { cause: cancellation.queuedOnly ? 'pause' : 'bulk_cancellation', id: cancellationId };
  let cancelled = 0;
  for (const id of matching) if ((await deps.transitions.cancel(env, id, reason))?.status === 'Cancelled') cancelled++;
  return cancelled;
}

async function queuedOf(
  env: string,
  found: readonly { id: string }[],
  { runs }: BulkCancellationDeps,
): Promise<string[]> {
  const ids = found.map(({ id }) => id);
  return (await runs.readMany(env, ids)).filter(({ status }) => status === 'Queued').map(({ id }) => id);
}

async function idsThatMeet(
  { env, functionId, expression: source = '', createdAt }: Cancellation,
  ids: readonly string[],
  { runs, events, evaluator }: BulkCancellationDeps,
): Promise<string[]> {
  const read = await runs.readMany(env, ids);
  const records = await events.records(env, [...new Set(read.map(({ eventId }) => eventId))]);
  const payloads = new Map(records.flatMap((record) => (record ? [[record.internal_id, payloadOf(record)]] : [])));
  const expression = compiled(source);
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

/** undefined: this version rejects an expression that an earlier one accepted. */
function compiled(source: string): Expression | undefined {
  try {
    return compile(source);
  } catch {
    return undefined;
  }
}
