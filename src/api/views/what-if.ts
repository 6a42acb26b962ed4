/** The API's representation of what-ifs. */
import { z } from 'zod';
import type { SimulatedFlow } from '../../model/what-if/flow/simulated-flow.ts';
import {
  CAUSES,
  type FlowReport,
  readCounts,
  SCOPES,
  type SchedulesOfFunction,
  type Scope,
  SKIPS,
  STOPS,
  stopOf,
  type WhatIf,
  type WhatIfExample,
} from '../../model/what-if/what-if.ts';
import { apiObject, textOrNull, time, timeOrNull } from '../http/validation.ts';

export const WHAT_IF_STATUSES = ['running', 'paused', 'cancelled', 'done'] as const;

const countsShape = {
  checked: z.int().describe('Runs that were compared'),
  unchanged: z.int(),
  changed: z.int().describe('Runs that continue differently'),
  broken: z.int().describe('Runs that fail, or lose results of steps that have finished'),
  skipped: z.int().describe('Runs that were not compared'),
};

const stepSchema = z.object({ id: z.string().describe('Hashed ID'), name: z.string() });

const courseSchema = z.object({
  steps: z.array(stepSchema).describe('The next steps, at most 10'),
  output: textOrNull.describe('JSON text, at most 1,000 characters'),
  error: z.object({ name: z.string(), message: z.string() }).nullable(),
});

const exampleSchema = z.object({
  scope: z.enum(SCOPES),
  cause: z.enum(CAUSES),
  result: z.enum(['changed', 'broken']),
  run_id: z.string(),
  step: stepSchema.nullable().describe('The step in question'),
  unused: z.array(stepSchema).describe('Steps whose results are never asked for, at most 10'),
  recorded: courseSchema.describe('How the run continues, or continued'),
  candidate: courseSchema.describe('How the candidate would continue it'),
});

const scopeSchema = z.object({
  ...countsShape,
  causes: z
    .partialRecord(z.enum(CAUSES), z.int())
    .describe(
      'Number of runs by cause. throws: the function fails; function_gone: there is no such function; results_unused: results of finished steps are never asked for, as when a step ' +
        'is renamed or removed; new_step: it plans a step that the run does not have; other_order, other_kind: steps come in another order, or are of another ' +
        'type; ends_earlier: the function returns before a step that the run waits for; goes_on: it waits for a step that the run had left; no_longer_fails: it returns, or plans another step; other_output',
    ),
  skips: z.partialRecord(z.enum(SKIPS), z.int()).describe('Number of runs that were not compared, by reason'),
});

const simulatedSchema = z.object({
  events: z.int().describe('Events that start the function'),
  runs: z.int(),
  skipped: z
    .object({ rate_limited: z.int(), idempotent: z.int(), singleton: z.int() })
    .describe('Events without a run'),
  merged: z.int().describe('Events that share the run of another event, by a batch or a debounce'),
  cancelled: z.int().describe('Runs that another run replaces, by a singleton'),
  waiting_max: z.int().describe('The most runs that wait for their start at a time'),
  wait_p99_ms: z.int().describe('99th percentile of the waits of runs for their start'),
  wait_max_ms: z.int(),
  complete: z.boolean().describe('false: it was stopped because it took too long'),
});

const flowSchema = z.object({
  from: z.iso.datetime(),
  to: z.iso
    .datetime()
    .describe('The events received in this time, at most 2,000: the busiest part, if there were more'),
  measured_runs: z.int().describe('Stored runs whose calls the simulated ones have. 0: runs take no time'),
  present: simulatedSchema.nullable().describe('null: there is no such function'),
  candidate: simulatedSchema.nullable(),
});

const ticksSchema = z.object({
  count: z.int(),
  latest: z.array(z.iso.datetime()).describe('The latest ticks, at most 5'),
});

const schedulesSchema = z.object({
  present: z.int().describe('Ticks of its present schedules since then'),
  candidate: z.int(),
  more: ticksSchema.describe('Ticks that only the candidate has'),
  fewer: ticksSchema.describe('Ticks that the candidate lacks'),
  complete: z.boolean().describe('false: there are more than 11,000'),
});

const triggersSchema = z.object({
  since: timeOrNull.describe('null: triggers were not compared'),
  sampled: z.int().describe('Events that were compared: at most 100 of a name, and 50 names, the newest first'),
  complete: z.boolean().describe('false: some names of events were left out'),
  functions: z
    .array(
      z.object({
        id: z.string(),
        change: z
          .enum(['added', 'removed', 'refused'])
          .nullable()
          .describe('refused: the service would refuse the registration of the function'),
        received: z.int().describe('Events since then that it listens to, here or in the candidate'),
        sampled: z.int().describe('Received events in the sample'),
        present: z.int().describe('Events of the sample that start it now, without regard to flow control'),
        candidate: z.int().describe('Events of the sample that would start it in the candidate'),
        flow: flowSchema
          .nullable()
          .describe('A simulation of flow control, if limits or triggers of a function with limits differ'),
        schedules: schedulesSchema.nullable().describe('null: its schedules are the same'),
      }),
    )
    .describe(
      'Functions with events in the sample, and added, removed and refused functions: at most 500, differences first',
    ),
  flow_complete: z.boolean().describe('false: flow control of some functions was not simulated'),
  problem: textOrNull.describe('Why triggers were not compared'),
});

export const whatIfSchema = apiObject('WhatIf', {
  id: z.string(),
  app: z.string(),
  url: z.url().describe('URL of the candidate'),
  sdk: z.string(),
  status: z.enum(WHAT_IF_STATUSES),
  stopped_because: z
    .enum(STOPS)
    .nullable()
    .describe(
      'time: `max_minutes` are over; app_unreachable: the candidate no longer answers. null: it has compared all, or continues',
    ),
  ...countsShape,
  functions: z
    .array(
      z.object({
        id: z.string(),
        refused: z
          .boolean()
          .describe('true: the candidate ran a step that it was asked to plan, and was not called again'),
        active: scopeSchema,
        past: scopeSchema.describe('Runs that have completed'),
        failed: scopeSchema,
        examples: z.array(exampleSchema).describe('One run for each scope and cause'),
      }),
    )
    .describe('Functions with runs, the worst first'),
  triggers: triggersSchema.nullable().describe('A sample. null: not asked for'),
  active: z.boolean(),
  past_since: timeOrNull.describe('null: completed and failed runs are not compared'),
  waiting_because: textOrNull,
  created_at: z.iso.datetime(),
  done_at: timeOrNull,
});

/** A what-if in a list, without its functions and triggers. */
export const listedWhatIfSchema = whatIfSchema.omit({ functions: true, triggers: true }).meta({ id: 'ListedWhatIf' });

interface Counts {
  checked: number;
  unchanged: number;
  changed: number;
  broken: number;
  skipped: number;
}

function countsOf(counts: ReturnType<typeof readCounts>): Counts {
  const sum = (result: string) =>
    counts.reduce((all, counted) => all + (counted.result === result ? counted.count : 0), 0);
  const [unchanged, changed, broken] = [sum('unchanged'), sum('changed'), sum('broken')];
  return { checked: unchanged + changed + broken, unchanged, changed, broken, skipped: sum('skipped') };
}

export function presentListedWhatIf({ id, definition, status, counts, waiting, doneAt }: WhatIf) {
  const { app, url, sdk, active, pastSince, createdAt } = definition;
  return {
    id,
    app,
    url,
    sdk,
    status,
    stopped_because: stopOf(counts) ?? null,
    ...countsOf(readCounts(counts)),
    active,
    past_since: time(pastSince),
    waiting_because: status === 'running' ? (waiting ?? null) : null,
    created_at: time(createdAt),
    done_at: time(doneAt),
  };
}

export function presentWhatIf(whatIf: WhatIf, examples: readonly WhatIfExample[]) {
  const counts = readCounts(whatIf.counts);
  const ofFunctions = whatIf.definition.functions.flatMap((id, fn) => {
    const own = counts.filter((counted) => counted.fn === fn);
    if (own.length === 0) return [];
    const refused = own.some(({ reason }) => reason === 'executes_steps');
    const shown = examples.filter(({ functionId }) => functionId === id).map(presentExample);
    return [
      {
        id,
        refused,
        active: presentScope(own, 'active'),
        past: presentScope(own, 'past'),
        failed: presentScope(own, 'failed'),
        examples: shown,
      },
    ];
  });
  const severity = (fn: (typeof ofFunctions)[number]) =>
    SCOPES.reduce((sum, scope) => sum + 1e9 * fn[scope].broken + fn[scope].changed, 0);
  return {
    ...presentListedWhatIf(whatIf),
    functions: ofFunctions.sort((a, b) => severity(b) - severity(a)),
    triggers: presentTriggers(whatIf.definition),
  };
}

function presentTriggers({ triggers }: WhatIf['definition']) {
  if (!triggers) return null;
  if ('problem' in triggers) {
    return {
      ...{ since: null, sampled: 0, complete: false, functions: [], flow_complete: false },
      problem: triggers.problem,
    };
  }
  const { since, sampled, isCut, isFlowCut, functions } = triggers;
  const shown = functions.map(({ change = null, flow, schedules, ...counts }) => ({
    ...{ change, ...counts, flow: presentFlow(flow), schedules: presentSchedules(schedules) },
  }));
  return {
    ...{ since: time(since), sampled, complete: !isCut, functions: shown, flow_complete: isFlowCut === false },
    problem: null,
  };
}

function presentSchedules(schedules: SchedulesOfFunction | undefined) {
  if (!schedules) return null;
  const { present, candidate, more, fewer, isCut } = schedules;
  const ticks = ({ count, latest }: typeof more) => ({ count, latest: latest.map(time) });
  return { present, candidate, more: ticks(more), fewer: ticks(fewer), complete: !isCut };
}

function presentFlow(flow: FlowReport | undefined) {
  if (!flow) return null;
  const { from, to, measured, present, candidate } = flow;
  const sides = { present: presentSimulated(present), candidate: presentSimulated(candidate) };
  return { from: time(from), to: time(to), measured_runs: measured, ...sides };
}

function presentSimulated(simulated: SimulatedFlow | undefined) {
  if (!simulated) return null;
  const { waitingMax, waitP99Ms, waitMaxMs, ...counts } = simulated;
  return { ...counts, waiting_max: waitingMax, wait_p99_ms: waitP99Ms, wait_max_ms: waitMaxMs };
}

function presentScope(counts: ReturnType<typeof readCounts>, scope: Scope) {
  const own = counts.filter((counted) => counted.scope === scope);
  const by = (results: readonly string[]) =>
    Object.fromEntries(
      own.filter(({ result }) => results.includes(result)).map(({ reason, count }) => [reason, count]),
    );
  return { ...countsOf(own), causes: by(['changed', 'broken']), skips: by(['skipped']) };
}

function presentExample({ scope, cause, result, runId, step, unused, recorded, candidate }: WhatIfExample) {
  return {
    scope,
    cause,
    result,
    run_id: runId,
    step: step ?? null,
    unused: unused ?? [],
    recorded: presentCourse(recorded),
    candidate: presentCourse(candidate),
  };
}

function presentCourse({ steps = [], output, error }: NonNullable<WhatIfExample['recorded']> = {}) {
  return { steps, output: output ?? null, error: error ?? null };
}
