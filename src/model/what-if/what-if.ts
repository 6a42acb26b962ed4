/** What-if: what a candidate, another build of an app, would do with the runs of the app (docs/change-code-safely.md#what-if). */
import type { BulkOperation } from '../bulk/bulk-operation.ts';
import type { SimulatedFlow } from './flow/simulated-flow.ts';

/** `past`: runs that have completed. */
export const SCOPES = ['active', 'past', 'failed'] as const;
export type Scope = (typeof SCOPES)[number];

/** Reasons why a candidate treats a run differently. */
export const CAUSES = [
  'throws',
  'function_gone',
  'results_unused',
  'new_step',
  'other_order',
  'other_kind',
  'ends_earlier',
  'goes_on',
  'no_longer_fails',
  'other_output',
] as const;
export type Cause = (typeof CAUSES)[number];

/** Why a run was not compared. */
export const SKIPS = [
  'too_large',
  'too_many_calls',
  'event_gone',
  'steps_gone',
  'ended',
  'no_answer',
  'executes_steps',
] as const;
export type Skip = (typeof SKIPS)[number];

export type Result = 'unchanged' | 'changed' | 'broken';

/** Why it ended before it had seen all runs. */
export const STOPS = ['time', 'app_unreachable'] as const;
export type Stop = (typeof STOPS)[number];

/** A step as people know it. */
export interface StepShown {
  id: string;
  name: string;
}

/** How the run continued with the active build, or with the candidate. */
export interface Course {
  /** Steps that are next. */
  steps?: StepShown[];
  /** JSON text, possibly truncated. */
  output?: string;
  error?: { name: string; message: string };
}

/** The difference of one run. */
export interface Difference {
  cause: Cause;
  /** The step in question. */
  step?: StepShown;
  /** Finished steps whose results the candidate never asks for. */
  unused?: StepShown[];
  recorded?: Course;
  candidate?: Course;
}

export type Finding =
  | { result: 'unchanged' }
  | { result: 'changed' | 'broken'; difference: Difference }
  | { skip: Skip };

export interface WhatIfExample extends Difference {
  scope: Scope;
  functionId: string;
  runId: string;
  result: 'changed' | 'broken';
}

/** How often a function would start, with the active build and with the candidate. */
export interface TriggersOfFunction {
  id: string;
  /** `refused`: the candidate registers it, and the service would refuse it. */
  change?: 'added' | 'removed' | 'refused';
  /** Events that it listens to in either build: all since the report's time, and those of the sample. */
  received: number;
  sampled: number;
  /** How many events of the sample start it, with the active build and with the candidate. */
  present: number;
  candidate: number;
  /** Present if limits or triggers of a function with flow control differ. */
  flow?: FlowReport;
  /** Present if its schedules differ. */
  schedules?: SchedulesOfFunction;
}

/** Ticks since the report's time in both builds. Equal times count once. */
export interface SchedulesOfFunction {
  present: number;
  candidate: number;
  /** The latest ticks that only the candidate has, and the latest that it lacks; Unix milliseconds. */
  more: { count: number; latest: readonly number[] };
  fewer: { count: number; latest: readonly number[] };
  /** Whether there are more ticks than are counted. */
  isCut: boolean;
}

/** Simulated effects of the limits of both builds on the events of a period. */
export interface FlowReport {
  /** Unix milliseconds. */
  from: number;
  to: number;
  /** Number of stored runs whose calls the simulated runs have. */
  measured: number;
  /** Absent: this build does not have the function. */
  present?: SimulatedFlow;
  candidate?: SimulatedFlow;
}

/** A sample of received events against the triggers of the candidate. */
export interface TriggerReport {
  /** Unix milliseconds. */
  since: number;
  /** Events that were compared. */
  sampled: number;
  /** Whether some names of events were left out. */
  isCut: boolean;
  /** Whether flow control of some functions was not simulated. */
  isFlowCut: boolean;
  functions: TriggersOfFunction[];
}

export interface WhatIfDefinition {
  id: string;
  app: string;
  /** URL of the candidate. */
  url: string;
  sdk: string;
  dialect: 'service' | 'inngest';
  /** IDs of the app's functions. */
  functions: readonly string[];
  /** Whether to compare active runs. */
  active: boolean;
  activeMax: number;
  /** Completed and failed runs that ended since this time (Unix milliseconds); absent: none. */
  pastSince?: number;
  /** Maximum per function. */
  pastMax: number;
  /** Absent: triggers are not compared. */
  triggers?: TriggerReport | { problem: string };
  /** Unix milliseconds. */
  endsBy: number;
  createdAt: number;
}

/** The next run: of this scope and function, after this position in the list. */
export interface WhatIfPosition {
  scope: Scope;
  /** Index in `functions`. */
  fn: number;
  cursor?: { at: number; id: string };
}

export type WhatIf = BulkOperation<WhatIfDefinition, WhatIfPosition>;

/** A function that no app has. */
export const NO_FUNCTION = 'what-if-without-a-function';

/** A difference of an active run that loses something or fails. Other differences only change how it continues. */
const BROKEN: Readonly<Record<Scope, ReadonlySet<Cause>>> = {
  active: new Set<Cause>(['throws', 'function_gone', 'results_unused']),
  past: new Set<Cause>(['throws', 'function_gone']),
  failed: new Set<Cause>(['function_gone']),
};

export function resultOf(scope: Scope, cause: Cause): 'changed' | 'broken' {
  return BROKEN[scope].has(cause) ? 'broken' : 'changed';
}

/** Names of counts. */
export const COUNT = {
  unchanged: (scope: Scope, fn: number) => `${scope}|${fn}|unchanged|`,
  different: (scope: Scope, fn: number, cause: Cause) => `${scope}|${fn}|${resultOf(scope, cause)}|${cause}`,
  skipped: (scope: Scope, fn: number, skip: Skip) => `${scope}|${fn}|skipped|${skip}`,
  stopped: (stop: Stop) => `stopped|${stop}`,
};

export interface ReadCount {
  scope: Scope;
  fn: number;
  result: Result | 'skipped';
  reason: string;
  count: number;
}

export function readCounts(counts: Readonly<Record<string, number>>): ReadCount[] {
  return Object.entries(counts).flatMap(([name, count]) => {
    const [scope, fn, result, reason = ''] = name.split('|');
    if (!SCOPES.includes(scope as Scope)) return [];
    return [{ scope: scope as Scope, fn: Number(fn), result: result as ReadCount['result'], reason, count }];
  });
}

export function stopOf(counts: Readonly<Record<string, number>>): Stop | undefined {
  return STOPS.find((stop) => counts[COUNT.stopped(stop)]);
}
