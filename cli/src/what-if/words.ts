/** Findings of a what-if in words: for the command line, and for the dashboard, which imports this file. */

export const SCOPES = ['active', 'past', 'failed'] as const;
export type Scope = (typeof SCOPES)[number];

export const RUNS: Readonly<Record<Scope, string>> = { active: 'active', past: 'completed', failed: 'failed' };

const SKIPS: Readonly<Record<string, string>> = {
  too_large: 'too large for one call',
  too_many_calls: 'too many steps',
  event_gone: 'their event is no longer stored',
  steps_gone: 'their steps are no longer stored',
  ended: 'ended meanwhile',
  no_answer: 'the candidate did not answer',
  executes_steps: 'the candidate runs steps that it is asked to plan',
};

const STOPS: Readonly<Record<string, string>> = {
  time: 'It stopped early: its time was over.',
  app_unreachable: 'It stopped early: the candidate no longer answers.',
};

/** Why runs were not compared. */
export function skipText(reason: string): string {
  return SKIPS[reason] ?? reason;
}

/** undefined: the what-if has compared all runs, or continues. */
export function stopText(reason: string | null): string | undefined {
  return reason === null ? undefined : STOPS[reason];
}

/** Shows a name or a value. */
export type Quote = (text: string) => string;

interface Counts {
  checked: number;
  unchanged: number;
  changed: number;
  broken: number;
  skipped: number;
}

export function countsText({ checked, unchanged, changed, broken, skipped }: Counts): string {
  const rest = skipped > 0 ? `; ${shown(skipped)} not compared` : '';
  return `${shown(checked)} runs: ${resultsText({ unchanged, changed, broken })}${rest}`;
}

export function resultsText({ unchanged, changed, broken }: Omit<Counts, 'checked' | 'skipped'>): string {
  return `${shown(unchanged)} unchanged, ${shown(changed)} changed, ${shown(broken)} broken`;
}

function shown(count: number): string {
  return count.toLocaleString('en-US');
}

interface Named {
  name: string;
}

export interface Example {
  cause: string;
  step: Named | null;
  unused: readonly Named[];
}

export function whatHappens({ cause, step, unused }: Example, quote: Quote): string {
  const name = step ? quote(step.name) : 'a step';
  const names = unused.map((one) => quote(one.name)).join(', ');
  switch (cause) {
    case 'throws':
      return 'it throws';
    case 'function_gone':
      return 'the function is gone';
    case 'results_unused':
      return `it never uses the result of ${names}`;
    case 'new_step':
      return `it would now run ${name}`;
    case 'other_order':
      return `it asks for ${name} later`;
    case 'other_kind':
      return `${name} is a step of another type`;
    case 'ends_earlier':
      return 'it ends earlier';
    case 'goes_on':
      return 'it waits for a step that the run had left';
    case 'no_longer_fails':
      return step ? `it no longer fails, and would now run ${name}` : 'it no longer fails';
    case 'other_output':
      return 'it returns something else';
    default:
      return cause;
  }
}

interface Course {
  steps: readonly Named[];
  /** JSON text. */
  output: string | null;
  error: { name: string; message: string } | null;
}

/** The next steps, or the end; undefined: nothing is known. */
export function courseText({ steps, output, error }: Course, quote: Quote): string | undefined {
  if (error) return `${error.name}: ${quote(error.message)}`;
  if (output !== null) return `returns ${quote(output)}`;
  return steps.length > 0 ? steps.map(({ name }) => quote(name)).join(', ') : undefined;
}

interface Ticks {
  count: number;
  latest: readonly string[];
}

interface Schedules {
  present: number;
  candidate: number;
  more: Ticks;
  fewer: Ticks;
  complete: boolean;
}

interface Simulated {
  events: number;
  runs: number;
  skipped: { rate_limited: number; idempotent: number; singleton: number };
  merged: number;
  cancelled: number;
  waiting_max: number;
  wait_p99_ms: number;
  wait_max_ms: number;
  complete: boolean;
}

interface Flow {
  from: string;
  to: string;
  measured_runs: number;
  present: Simulated | null;
  candidate: Simulated | null;
}

export interface TriggersOfFunction {
  id: string;
  change: string | null;
  received: number;
  sampled: number;
  present: number;
  candidate: number;
  schedules: Schedules | null;
  flow: Flow | null;
}

/** Whether it starts for other events, or at other times. */
export function isDiffering({ change, present, candidate, schedules }: TriggersOfFunction): boolean {
  return change !== null || present !== candidate || schedules !== null;
}

/** Differences of a function's triggers and limits; empty: none. */
export function triggerTexts(row: TriggersOfFunction): string[] {
  const { change, received, sampled, present, candidate, schedules, flow } = row;
  const counts = `would start ${candidate} of the ${sampled} sampled events, now ${present} (${received} received)`;
  return [
    ...(change !== null || present !== candidate ? [change === null ? counts : `${change}; ${counts}`] : []),
    ...(schedules ? [schedulesText(schedules)] : []),
    ...(flow ? [flowText(flow)] : []),
  ];
}

function schedulesText({ present, candidate, more, fewer, complete }: Schedules): string {
  const parts = [[more, 'more'] as const, [fewer, 'fewer'] as const].flatMap(([{ count, latest }, word]) =>
    count > 0 ? [`${count} ${word}, the latest at ${latest[0]}`] : [],
  );
  const counts = [`its schedules would have ticked ${candidate} times, and did ${present} times`, ...parts].join('; ');
  return complete ? counts : `${counts}; there are more than were counted`;
}

function flowText({ from, to, measured_runs: measured, present, candidate }: Flow): string {
  const sides = [
    ...(candidate ? [`would have ${simulatedText(candidate)}`] : []),
    ...(present ? [`now ${simulatedText(present)}`] : []),
  ];
  const untimed = measured === 0 ? ', with runs that take no time, because none is stored' : '';
  return `a simulation of flow control from ${from} to ${to}${untimed}: ${sides.join('; ')}`;
}

function simulatedText({ events, runs, skipped, merged, cancelled, complete, ...rest }: Simulated): string {
  const others = [
    [skipped.rate_limited + skipped.idempotent + skipped.singleton, 'skipped'] as const,
    [merged, 'merged'] as const,
    [cancelled, 'cancelled'] as const,
  ].filter(([count]) => count > 0);
  const { waiting_max: waiting, wait_p99_ms: p99, wait_max_ms: longest } = rest;
  return [
    ...[[events, 'events'] as const, [runs, 'runs'] as const, ...others].map((one) => one.join(' ')),
    waiting > 0 ? `at most ${waiting} waiting, for ${seconds(longest)} (p99 ${seconds(p99)})` : 'none waiting',
    ...(complete ? [] : ['stopped early']),
  ].join(', ');
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
