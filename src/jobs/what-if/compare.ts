/** Compares how a candidate continues a stored run with how the run continued. */
import { canonical } from '../../functions/canonical-json.ts';
import type { Pending } from '../../model/runs/memo.ts';
import { type Op, stepName } from '../../model/runs/operation.ts';
import {
  type Course,
  type Difference,
  type Finding,
  resultOf,
  type Scope,
  type StepShown,
} from '../../model/what-if/what-if.ts';
import type { StoredSteps, Walk, WalkEnd } from './walk.ts';

/** A step, as history shows it. */
export interface KnownStep {
  name: string;
  /** Step type; undefined for steps of earlier versions. */
  op?: string | undefined;
}

export interface StoredRun extends StoredSteps {
  /** Finished and begun steps, by hashed ID. */
  known: ReadonlyMap<string, KnownStep>;
  /** Steps that have begun and have no result. */
  open: ReadonlySet<string>;
}

export interface ActiveRun extends StoredRun {
  pending: ReadonlyMap<string, Pending>;
  /** Whether the present code has continued from this state, so that everything it planned is stored. */
  isAnswered: boolean;
  /** Error of the last attempt. */
  error?: { name: string; message: string } | undefined;
}

export interface PastRun extends StoredRun {
  /** JSON text. */
  output: string;
}

export interface FailedRun extends StoredRun {
  error: { name: string; message: string };
}

const SHOWN_STEPS = 10;
const SHOWN_LENGTH = 1_000;
/** Types of steps that run in the app. */
const RUNS_IN_APP: ReadonlySet<string> = new Set(['Step', 'StepRun', 'StepError', 'StepFailed', 'StepPlanned']);
const UNCHANGED: Finding = { result: 'unchanged' };

/** How the candidate continues a run that has not ended.
 *  @param end the end of a call with all results, which is the next call that the candidate would get */
export function compareActive(run: ActiveRun, walk: Walk, end: WalkEnd): Finding {
  const { late, added, asked } = walk;
  const forgotten = [...run.pending.keys()].filter((id) => !asked.has(id));
  const sides = { recorded: stepsOf([...run.pending.keys()], run), candidate: courseOf(end, added) };
  const found = (difference: Difference) => finding('active', { ...sides, ...difference });
  if (end.kind === 'failed') return isSameError(end.error, run.error) ? UNCHANGED : found({ cause: 'throws' });
  if (walk.unused.length > 0) return found({ cause: 'results_unused', unused: shown(walk.unused, run) });
  if (end.kind === 'completed') {
    return forgotten.length > 0 || run.isAnswered ? found({ cause: 'ends_earlier' }) : UNCHANGED;
  }
  // Until the present code has continued from this state, nobody knows what it would plan.
  if (added[0] && (walk.isEarly || forgotten.length > 0 || isNew(run))) {
    return found({ cause: 'new_step', step: shownOp(added[0]) });
  }
  if (forgotten.length > 0) return found({ cause: 'results_unused', unused: shown(forgotten, run) });
  if (late[0]) return found({ cause: 'other_order', step: shown([late[0]], run)[0] as StepShown });
  return kindChange('active', run, walk) ?? UNCHANGED;
}

/** How the candidate would have gone through a run that has completed. */
export function comparePast(run: PastRun, walk: Walk): Finding {
  const { end, late, added, unused } = walk;
  const next = unused[0] === undefined ? { output: truncated(run.output) } : stepsOf([unused[0]], run);
  const found = (difference: Difference) =>
    finding('past', { recorded: next, candidate: courseOf(end, added), ...difference });
  if (end.kind === 'failed') return found({ cause: 'throws' });
  if (added[0]) return found({ cause: 'new_step', step: shownOp(added[0]) });
  if (late[0]) return finding('past', { cause: 'other_order', step: shown([late[0]], run)[0] as StepShown });
  if (unused.length > 0) return found({ cause: 'results_unused', unused: shown(unused, run) });
  const ofKind = kindChange('past', run, walk);
  if (ofKind) return ofKind;
  if (end.kind === 'plans') return found({ cause: 'goes_on', candidate: stepsOf([...run.open], run) });
  const isSame = end.kind !== 'completed' || isSameJson(end.output, run.output);
  return isSame ? UNCHANGED : found({ cause: 'other_output' });
}

/** How the candidate would have gone through a failed run, up to the failure. The step that failed is planned again, and may fail again. */
export function compareFailed(run: FailedRun, walk: Walk): Finding {
  const { end, late, added, unused, isEarly } = walk;
  const { name, message } = run.error;
  const recorded = { error: { name, message: truncated(message) } };
  const found = (difference: Difference) =>
    finding('failed', { recorded, candidate: courseOf(end, added), ...difference });
  if (end.kind === 'failed') return isSameError(end.error, run.error) ? UNCHANGED : found({ cause: 'throws' });
  const step = added[0] && { step: shownOp(added[0]) };
  if (step && isEarly) return found({ cause: 'new_step', ...step });
  if (late[0]) return found({ cause: 'other_order', step: shown([late[0]], run)[0] as StepShown });
  if (unused.length > 0) return found({ cause: 'results_unused', unused: shown(unused, run) });
  const ofKind = kindChange('failed', run, walk);
  if (ofKind) return ofKind;
  return step || end.kind === 'completed' ? found({ cause: 'no_longer_fails', ...step }) : UNCHANGED;
}

export function isOutputOther(found: Finding): boolean {
  return 'difference' in found && found.difference.cause === 'other_output';
}

function finding(scope: Scope, difference: Difference): Finding {
  return { result: resultOf(scope, difference.cause), difference };
}

/** Whether the present code would not plan a step that the run does not have. */
function isNew({ isAnswered, pending }: ActiveRun): boolean {
  return isAnswered && pending.size > 0;
}

/** A step with the same ID and another type. */
function kindChange(scope: Scope, { known }: StoredRun, { asked }: Walk): Finding | undefined {
  for (const op of asked.values()) {
    const before = known.get(op.id)?.op;
    if (before !== undefined && kindOf(before) !== kindOf(op.op)) {
      return finding(scope, { cause: 'other_kind', step: shownOp(op) });
    }
  }
  return undefined;
}

function kindOf(op: string): string {
  return RUNS_IN_APP.has(op) ? 'StepRun' : op;
}

function courseOf(end: WalkEnd, added: readonly Op[]): Course {
  if (end.kind === 'completed') return { output: truncated(end.output) };
  if (end.kind === 'failed') return { error: { ...end.error, message: truncated(end.error.message) } };
  return { steps: added.slice(0, SHOWN_STEPS).map(shownOp) };
}

function stepsOf(ids: readonly string[], run: StoredRun): Course {
  return { steps: shown(ids, run) };
}

function shown(ids: readonly string[], { known }: StoredRun): StepShown[] {
  return ids.slice(0, SHOWN_STEPS).map((id) => ({ id, name: known.get(id)?.name ?? id }));
}

function shownOp(op: Op): StepShown {
  return { id: op.id, name: stepName(op) };
}

function truncated(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text;
}

function isSameError(a: { name: string; message: string }, b: { name: string; message: string } | undefined): boolean {
  return b !== undefined && a.name === b.name && a.message === b.message;
}

function isSameJson(a: string, b: string): boolean {
  return a === b || canonical(JSON.parse(a)) === canonical(JSON.parse(b));
}
