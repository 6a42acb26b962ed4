/** Checks one stored run with a candidate: its calls plan only, carry a header that says so, and store nothing. */
import { setTimeout as wait } from 'node:timers/promises';
import { CallTooLarge } from '../../functions/call-request.ts';
import type { FunctionClient } from '../../functions/function-client.ts';
import type { Outcome } from '../../functions/interpret-response.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { MAX_STEPS } from '../../model/runs/memo.ts';
import { withStepInput } from '../../model/runs/step-input.ts';
import { type Finding, NO_FUNCTION, type Skip, type WhatIfDefinition } from '../../model/what-if/what-if.ts';
import {
  type ActiveRun,
  compareActive,
  compareFailed,
  comparePast,
  type FailedRun,
  isOutputOther,
  type PastRun,
} from './compare.ts';
import type { Found } from './stored-runs.ts';
import { endOf, type StoredSteps, type Walk, walk } from './walk.ts';

/** A step that ends a branch needs one more call. */
const CALLS_MAX = MAX_STEPS + 1;
/** Pause between two equal calls, so that an output that contains the time differs. */
const PAUSE_MS = 20;

export interface CheckDeps {
  candidateClient: Pick<FunctionClient, 'call'>;
}

export function candidateFunction(fn: AppFunction, { url, dialect }: WhatIfDefinition): AppFunction {
  return { ...fn, dialect, url: urlOf(url, idOnTheWire(fn)) };
}

export async function checkActive(found: Found<ActiveRun>, fn: AppFunction, deps: CheckDeps): Promise<Finding> {
  const { steps } = found;
  return walked(found, fn, deps, true, async (walk) => {
    const hasAll = steps.stack.every((id) => walk.asked.has(id));
    // Its next call would have all results, also results that it has not asked for.
    const end = hasAll ? walk.end : (endOf(await ask(found, fn, steps, deps)) ?? { kind: 'plans' });
    return end.kind === 'noResponse' ? { skip: 'no_answer' } : compareActive(steps, walk, end);
  });
}

export async function checkPast(found: Found<PastRun>, fn: AppFunction, deps: CheckDeps): Promise<Finding> {
  return walked(found, fn, deps, false, async (walk) => {
    const finding = comparePast(found.steps, walk);
    return isOutputOther(finding) && (await varies(walk, found, fn, deps)) ? { result: 'unchanged' } : finding;
  });
}

export async function checkFailed(found: Found<FailedRun>, fn: AppFunction, deps: CheckDeps): Promise<Finding> {
  return walked(found, fn, deps, false, async (walk) => compareFailed(found.steps, walk));
}

const GONE: Finding = { result: 'broken', difference: { cause: 'function_gone' } };

/** @param compare is not called if the candidate cannot be compared, or does not have the function */
async function walked<R extends ActiveRun | PastRun | FailedRun>(
  found: Found<R>,
  fn: AppFunction,
  deps: CheckDeps,
  supposes: boolean,
  compare: (walk: Walk) => Promise<Finding>,
): Promise<Finding> {
  try {
    const options = { open: found.steps.open, callsMax: CALLS_MAX, supposes };
    const done = await walk(found.steps, (known) => ask(found, fn, known, deps), options);
    const skip = skipOf(done);
    if (skip) return { skip };
    return (await isGone(done, found, fn, deps)) ? GONE : await compare(done);
  } catch (error) {
    if (error instanceof CallTooLarge) return { skip: 'too_large' };
    throw error;
  }
}

function skipOf({ end }: Walk): Skip | undefined {
  switch (end.kind) {
    case 'executed':
      return 'executes_steps';
    case 'noResponse':
      return 'no_answer';
    case 'tooManyCalls':
      return 'too_many_calls';
    default:
      return undefined;
  }
}

/** Whether the candidate answers as it does for a function that no app has. Each SDK words this answer differently. */
async function isGone(
  { end, asked }: Walk,
  found: Found<ActiveRun | PastRun | FailedRun>,
  fn: AppFunction,
  deps: CheckDeps,
) {
  if (end.kind !== 'failed' || asked.size > 0) return false;
  const none = { ...fn, url: urlOf(fn.url, NO_FUNCTION) };
  const rejection = endOf(await ask(found, none, { stack: [], memos: {} }, deps));
  const id = idOnTheWire(fn);
  return rejection?.kind === 'failed' && rejection.error.message.replaceAll(NO_FUNCTION, id) === end.error.message;
}

/** Whether the candidate gives another output when it is asked again: then the output depends on more than the stored state. */
async function varies({ end }: Walk, found: Found<PastRun>, fn: AppFunction, deps: CheckDeps): Promise<boolean> {
  await wait(PAUSE_MS);
  const again = endOf(await ask(found, fn, found.steps, deps));
  return end.kind === 'completed' && again?.kind === 'completed' && again.output !== end.output;
}

function ask(
  { run, events }: Pick<Found<never>, 'run' | 'events'>,
  fn: AppFunction,
  { stack, memos }: StoredSteps,
  { candidateClient }: CheckDeps,
): Promise<Outcome> {
  const [event] = events;
  if (!event) throw new Error('a run without an event');
  return candidateClient.call(fn, {
    run: { ...run, attempt: 0 },
    event,
    ...(run.batch && { events }),
    maxAttempts: fn.retries + 1,
    executions: 0,
    jobId: 'what-if',
    startedAt: Date.now(),
    stack,
    memos: withStepInput({ ...memos }, run.fromStep),
    planOnly: true,
    whatIf: true,
  });
}

/** The ID in the URL of the present function; for a function that connects, its own ID. */
function idOnTheWire({ id, url }: AppFunction): string {
  return URL.parse(url)?.searchParams.get('fnId') ?? id;
}

function urlOf(url: string, fnId: string): string {
  const target = new URL(url);
  target.searchParams.set('fnId', fnId);
  target.searchParams.set('stepId', 'step');
  return target.href;
}
