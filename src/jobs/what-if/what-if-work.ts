/** What-ifs as bulk operations: for each function of the app its active runs, then the completed and the failed ones,
 *  newest first. They have a client of their own, so they take no capacity of calls, rest after each group of calls,
 *  and wait while the service has a backlog. */
import { setTimeout as wait } from 'node:timers/promises';
import type { History } from '../../history/history.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import type { Run, RunStatus } from '../../model/runs/run.ts';
import {
  COUNT,
  type Finding,
  type ReadCount,
  readCounts,
  SCOPES,
  type Scope,
  type Stop,
  type WhatIf,
  type WhatIfDefinition,
  type WhatIfExample,
  type WhatIfPosition,
} from '../../model/what-if/what-if.ts';
import type { BulkStore } from '../../store/bulk/store.ts';
import type { BulkLoad } from '../bulk/bulk-load.ts';
import type { BulkWork } from '../bulk/bulk-work.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type CheckDeps, candidateFunction, checkActive, checkFailed, checkPast } from './check-run.ts';
import { restAfter } from './pacing.ts';
import { readActive, readFailed, readPast, type StoredRunsDeps } from './stored-runs.ts';

const PAGE = 100;
const STATUSES: Readonly<Record<Scope, readonly RunStatus[]>> = {
  active: ['Queued', 'Running'],
  past: ['Completed'],
  failed: ['Failed'],
};
/** Runs checked concurrently. */
const AT_ONCE = 4;
/** After this time a portion begins no more runs: if its process dies, another one checks them again. */
const PORTION_MS = 3_000;
/** A what-if ends after this number of runs in a row without a response. */
const UNANSWERED_MAX = 5;

export interface WhatIfWorkDeps extends CheckDeps, StoredRunsDeps {
  whatIfs: BulkStore['whatIfs'];
  functions: FunctionTables;
  history: StoredRunsDeps['history'] & Pick<History, 'runLists'>;
  load: Pick<BulkLoad, 'reasonToWait'>;
}

export function whatIfWork(deps: WhatIfWorkDeps): BulkWork<WhatIfDefinition, WhatIfPosition> {
  return {
    operations: deps.whatIfs,
    concurrency: { total: 2, perEnvironment: 1 },
    inArchivedEnvironments: 'continues',
    reasonToWait: () => deps.load.reasonToWait(Date.now()),
    doPortion: (whatIf, signal) => checkSome(whatIf, deps, signal),
  };
}

/** Progress of a portion. */
interface Portion {
  /** Counts of the what-if before the portion. */
  before: Readonly<Record<string, number>>;
  counts: Record<string, number>;
  examples: WhatIfExample[];
  /** Runs without a response since the last one with a response. */
  unanswered: number;
  stop?: Stop;
  endsAt: number;
  /** Set when the portion has ended: time until the next portion. */
  restMs?: number;
  signal: AbortSignal;
}

/** @returns milliseconds until the next portion */
async function checkSome(whatIf: WhatIf, deps: WhatIfWorkDeps, signal: AbortSignal): Promise<number> {
  const portion: Portion = {
    before: whatIf.counts,
    counts: {},
    examples: [],
    unanswered: 0,
    endsAt: performance.now() + PORTION_MS,
    signal,
  };
  let position: WhatIfPosition | undefined = whatIf.position;
  while (position && hasTime(portion)) position = await checkPage(whatIf, position, portion, deps);
  const { counts, examples, stop } = portion;
  if (stop) counts[COUNT.stopped(stop)] = 1;
  await deps.whatIfs.save(whatIf, {
    position,
    counts,
    results: examples.map((result) => ({ result })),
    ...((stop || !position) && { doneAt: Date.now() }),
  });
  return portion.restMs ?? 0;
}

function hasTime({ stop, endsAt, restMs, signal }: Portion): boolean {
  return stop === undefined && restMs === undefined && performance.now() < endsAt && !signal.aborted;
}

/** @returns the next position; undefined: it was the last page */
async function checkPage(
  { env, definition }: WhatIf,
  position: WhatIfPosition,
  portion: Portion,
  deps: WhatIfWorkDeps,
): Promise<WhatIfPosition | undefined> {
  if (Date.now() >= definition.endsBy) {
    portion.stop = 'time';
    return position;
  }
  const { scope } = position;
  const functionId = definition.functions[position.fn];
  if (functionId === undefined) return undefined;
  const left = leftOf(definition, position, portion);
  const fn = left > 0 && !isRefused(position, portion) ? await deps.functions.find(env, functionId) : undefined;
  if (!fn) return after(definition, position);
  const { runs, next } = await deps.history.runLists.list({
    env,
    functionIds: [functionId],
    statuses: STATUSES[scope],
    timeRange: { after: scope === 'active' ? undefined : definition.pastSince, cursor: position.cursor },
    limit: Math.min(PAGE, left),
  });
  const done = await checkRuns(runs, candidateFunction(fn, definition), position, portion, deps);
  const last = runs[done - 1];
  if (done < runs.length) return last ? { ...position, cursor: { at: last.queuedAt, id: last.id } } : position;
  return next ? { ...position, cursor: next } : after(definition, position);
}

/** @returns how many runs it has checked */
async function checkRuns(
  runs: readonly Run[],
  candidate: AppFunction,
  position: WhatIfPosition,
  portion: Portion,
  deps: WhatIfWorkDeps,
): Promise<number> {
  const [first] = runs;
  if (!first) return 0;
  const ids = runs.map(({ id }) => id);
  const outputs = position.scope === 'past' ? await deps.history.listedRuns.outputs(first.env, ids) : [];
  let done = 0;
  while (done < runs.length && hasTime(portion) && !isRefused(position, portion)) {
    const begunAt = performance.now();
    // The first run is checked alone: it shows whether the candidate runs steps.
    const some = runs.slice(done, done + (countOf(position, portion) === 0 ? 1 : AT_ONCE));
    const check = (run: Run, i: number) => CHECKS[position.scope](run, outputs[done + i] ?? null, candidate, deps);
    for (const [i, found] of (await Promise.all(some.map(check))).entries()) {
      record(position, some[i] as Run, found, portion);
    }
    done += some.length;
    if (portion.unanswered >= UNANSWERED_MAX) portion.stop = 'app_unreachable';
    else await rest(performance.now() - begunAt, portion, deps);
  }
  return done;
}

/** Leaves the worker to production: within the portion, or between it and the next one. */
async function rest(tookMs: number, portion: Portion, { load }: WhatIfWorkDeps): Promise<void> {
  const hasBacklog = (await load.reasonToWait(Date.now())) !== undefined;
  const { restMs, endsPortion } = restAfter({ tookMs, leftMs: portion.endsAt - performance.now(), hasBacklog });
  if (endsPortion) portion.restMs = restMs;
  // The rest ends early when the process stops.
  else await wait(restMs, undefined, { signal: portion.signal }).catch(() => undefined);
}

type Check = (run: Run, output: string | null, candidate: AppFunction, deps: WhatIfWorkDeps) => Promise<Finding>;

const CHECKS: Readonly<Record<Scope, Check>> = {
  async active(run, _, candidate, deps) {
    const found = await readActive(run, deps);
    return typeof found === 'string' ? { skip: found } : checkActive(found, candidate, deps);
  },
  async past(run, output, candidate, deps) {
    const found = await readPast(run, output, deps);
    return typeof found === 'string' ? { skip: found } : checkPast(found, candidate, deps);
  },
  async failed(run, _, candidate, deps) {
    const found = await readFailed(run, deps);
    return typeof found === 'string' ? { skip: found } : checkFailed(found, candidate, deps);
  },
};

function record({ scope, fn }: WhatIfPosition, run: Run, found: Finding, portion: Portion): void {
  const name = nameOf(scope, fn, found);
  if ('difference' in found && numberOf(name, portion) === 0) {
    const { functionId, id: runId } = run;
    portion.examples.push({ scope, functionId, runId, result: found.result, ...found.difference });
  }
  portion.counts[name] = (portion.counts[name] ?? 0) + 1;
  const isUnanswered = 'skip' in found && found.skip === 'no_answer';
  portion.unanswered = isUnanswered ? portion.unanswered + 1 : 0;
}

function nameOf(scope: Scope, fn: number, found: Finding): string {
  if ('skip' in found) return COUNT.skipped(scope, fn, found.skip);
  return 'difference' in found ? COUNT.different(scope, fn, found.difference.cause) : COUNT.unchanged(scope, fn);
}

function numberOf(name: string, { before, counts }: Portion): number {
  return (before[name] ?? 0) + (counts[name] ?? 0);
}

/** Whether the candidate has run a step of this function, which is then not called again. */
function isRefused({ fn }: WhatIfPosition, portion: Portion): boolean {
  return SCOPES.some((scope) => numberOf(COUNT.skipped(scope, fn, 'executes_steps'), portion) > 0);
}

/** Runs of this function and scope that were checked. */
function countOf({ scope, fn }: WhatIfPosition, portion: Portion): number {
  return checkedIn(portion).reduce(
    (sum, entry) => sum + (entry.scope === scope && entry.fn === fn ? entry.count : 0),
    0,
  );
}

/** How many more runs may be checked. */
function leftOf(definition: WhatIfDefinition, position: WhatIfPosition, portion: Portion): number {
  if (position.scope !== 'active') return definition.pastMax - countOf(position, portion);
  const checked = checkedIn(portion).filter(({ scope }) => scope === 'active');
  return definition.activeMax - checked.reduce((sum, { count }) => sum + count, 0);
}

function checkedIn({ before, counts }: Portion): ReadCount[] {
  return [...readCounts(before), ...readCounts(counts)];
}

/** The next function, then the next scope. */
function after({ functions, pastSince }: WhatIfDefinition, { scope, fn }: WhatIfPosition): WhatIfPosition | undefined {
  if (fn + 1 < functions.length) return { scope, fn: fn + 1 };
  const next = SCOPES[SCOPES.indexOf(scope) + 1];
  return next && pastSince !== undefined ? { scope: next, fn: 0 } : undefined;
}
