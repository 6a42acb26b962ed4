/** One call of a function: runs its code from the start and resolves finished steps to their memos. The call ends with the function,
 *  or with the first new steps. No state survives between calls.
 *
 *      settle → the requested step is reached: run it, respond with its result
 *             → the handler has ended:         respond with its output or error
 *             → a memo can be delivered:       deliver one, settle again
 *             → one new step that runs here:   run it at once; continue if a checkpoint takes its result, else respond with it
 *             → new steps:                     respond with them as planned
 *             → none of these:                 the code awaits something else; continue when it reaches a step */
import { setImmediate as macrotask, setTimeout as wait } from 'node:timers/promises';
import { asJson } from '../json.ts';
import type { ErrorOnTheWire } from '../wire-error.ts';
import { type Board, createBoard, type DecodeMemo } from './board.ts';
import { type FoundStep, opOf, type StepDescription } from './found.ts';
import type { Memos } from './memo.ts';
import type { Op } from './op.ts';
import { inRaceMode } from './race.ts';
import { repeatOutcome, runStep } from './run.ts';
import { outsideOfSteps } from './running-step.ts';
import { createSignal, type Signal } from './signal.ts';

export interface ReplayCall {
  runId: string;
  memos: Memos;
  /** Hashed IDs of the finished steps, in order of completion. */
  order: readonly string[];
  /** Hashed ID of the planned step to run; undefined: continue the function. */
  requestedStep: string | undefined;
  /** Plans even a single new step instead of running it at once. */
  disableImmediateExecution: boolean;
  /** Stores the results of steps while the call continues; undefined: the first step ends the call. */
  checkpoints?: { keep(step: Op): Promise<boolean> } | undefined;
  /** Default: memos are as the steps' results were. */
  decodeMemo?: DecodeMemo | undefined;
}

export type Progress =
  | { kind: 'done'; output: unknown }
  | { kind: 'failed'; error: unknown }
  | { kind: 'ops'; ops: Op[]; retryAfterSeconds?: number };

export type Find = (step: StepDescription) => Promise<unknown>;

/** The code of a function. */
export type Body = (find: Find, replaying: () => boolean) => unknown;

/** Longest wait for a requested step while the code awaits other steps or something else. The only case that depends on time; it only
 *  occurs if the code changed during the run. */
const NOT_FOUND_AFTER_MS = 10_000;

/** Never rejects. */
export async function replay(call: ReplayCall, body: Body, notFoundAfterMs = NOT_FOUND_AFTER_MS): Promise<Progress> {
  const changed = createSignal();
  const board = createBoard(call.memos, call.order, changed.fire, call.decodeMemo);
  let end: Progress | undefined;
  start(body, board).then((progress) => {
    end = progress;
    changed.fire();
  });

  const progress = await advance(call, board, changed, () => end, notFoundAfterMs);
  if (progress.kind !== 'ops' || !board.racing()) return progress;
  return { ...progress, ops: progress.ops.map(inRaceMode) };
}

async function advance(
  call: ReplayCall,
  board: Board,
  changed: Signal,
  ended: () => Progress | undefined,
  notFoundAfterMs: number,
): Promise<Progress> {
  for (;;) {
    const change = changed.next;
    // Runs after all microtasks: the code has then progressed as far as it can by itself.
    await macrotask();
    const requested = call.requestedStep && (await runRequested(call.requestedStep, call, board));
    if (requested) return requested;
    const end = ended();
    if (end) return call.requestedStep ? stepNotFound(call.requestedStep, board) : end;
    const delivered = await deliver(board);
    if (delivered === true) continue;
    if (delivered) return delivered;
    const pending = board.pending();
    if (call.requestedStep && pending.length > 0) {
      if (await comesFirst(change, notFoundAfterMs)) continue;
      return stepNotFound(call.requestedStep, board);
    }
    const [first] = pending;
    if (first?.run && pending.length === 1 && !call.disableImmediateExecution) {
      const finished = await runHere(first, call, board);
      if (finished) return finished;
      continue;
    }
    if (first) return { kind: 'ops', ops: pending.map((step) => opOf(step)) };
    await change;
  }
}

/** undefined: the call continues. */
async function runHere(
  step: FoundStep,
  { runId, checkpoints }: ReplayCall,
  board: Board,
): Promise<Progress | undefined> {
  if (!checkpoints) {
    const { op, ...outcome } = await runStep(step, runId);
    return { kind: 'ops', ops: [op], ...outcome };
  }
  const [startedAtMs, startedMs] = [Date.now(), performance.now()];
  const { op, ...outcome } = await runStep(step, runId);
  const timed = { ...op, timing: { a: startedAtMs * 1e6, b: Math.round((performance.now() - startedMs) * 1e6) } };
  if (op.op !== 'StepRun') return { kind: 'ops', ops: [timed], ...outcome };
  // The response contains this step and earlier steps that are not stored.
  if (!(await checkpoints.keep(timed))) return { kind: 'ops', ops: [] };
  // A copy: the code may change it before it is stored.
  board.finish(step, { data: asJson(op.data) });
  return undefined;
}

async function start(body: Body, { find, replaying }: Board): Promise<Progress> {
  try {
    return { kind: 'done', output: await outsideOfSteps(() => body(find, replaying)) };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** false: there is no memo to deliver. */
async function deliver(board: Board): Promise<boolean | Progress> {
  try {
    return await board.deliverNext();
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** undefined: the code has not reached it yet. */
async function runRequested(hashedId: string, { runId }: ReplayCall, board: Board): Promise<Progress | undefined> {
  const step = board.get(hashedId);
  if (!step) return undefined;
  const memo = board.memoOf(hashedId);
  if (memo === undefined && !step.run) return { kind: 'ops', ops: [opOf(step)] };
  const { op, ...outcome } = memo === undefined ? await runStep(step, runId) : repeatOutcome(step, memo);
  return { kind: 'ops', ops: [op], ...outcome };
}

function stepNotFound(hashedId: string, board: Board): Progress {
  const seen = board.pending().map(({ displayName }) => `"${displayName}"`);
  const error: ErrorOnTheWire = {
    name: 'StepNotFoundError',
    message:
      `The function did not reach the planned step ${hashedId}: its code has changed under the run. ` +
      `New steps that it did reach: ${seen.join(', ') || 'none'}`,
  };
  return { kind: 'ops', ops: [{ id: hashedId, op: 'StepNotFound', name: hashedId, displayName: hashedId, error }] };
}

/** Whether the change comes before the timeout. */
async function comesFirst(change: Promise<void>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const timer = wait(ms, false, { signal: stop.signal }).catch(() => false);
  const first = await Promise.race([change.then(() => true), timer]);
  stop.abort();
  return first;
}
