import type { ListedWhatIf, WhatIf } from '../../../api/types.ts';

export type FunctionInWhatIf = WhatIf['functions'][number];
export type Example = FunctionInWhatIf['examples'][number];
export type Scope = Example['scope'];
export type TriggersRow = NonNullable<WhatIf['triggers']>['functions'][number];
type Simulated = NonNullable<NonNullable<TriggersRow['flow']>['candidate']>;

export const SCOPES = ['active', 'past', 'failed'] as const satisfies readonly Scope[];
export const RUNS: Record<Scope, string> = { active: 'Active', past: 'Completed', failed: 'Failed' };

const SKIPS: Record<string, string> = {
  too_large: 'too large for one call',
  too_many_calls: 'too many steps',
  event_gone: 'their event is no longer stored',
  steps_gone: 'their steps are no longer stored',
  ended: 'ended meanwhile',
  no_answer: 'the candidate did not answer',
  executes_steps: 'the candidate runs steps that it is asked to plan',
};

const CAUSES: Record<Example['cause'], string> = {
  throws: 'It throws',
  function_gone: 'The function is gone',
  results_unused: 'It never uses the result of a step',
  new_step: 'It would run a step that the run does not have',
  other_order: 'It asks for a step later',
  other_kind: 'A step is of another type',
  ends_earlier: 'It ends earlier',
  goes_on: 'It waits for a step that the run had left',
  no_longer_fails: 'It no longer fails',
  other_output: 'It returns something else',
};

export function skipText(reason: string): string {
  return SKIPS[reason] ?? reason;
}

export function causeText({ cause, step, unused }: Example): string {
  const names = step ? [step.name] : unused.map(({ name }) => name);
  return names.length > 0 ? `${CAUSES[cause]}: ${names.join(', ')}` : CAUSES[cause];
}

export function courseText({ steps, output, error }: Example['recorded']): string | undefined {
  if (error) return `${error.name}: ${error.message}`;
  if (output !== null) return `returns ${output}`;
  return steps.length > 0 ? steps.map(({ name }) => name).join(', ') : undefined;
}

export function countsText({ checked, unchanged, changed, broken, skipped }: ListedWhatIf): string {
  const [all, same, other, lost, rest] = [checked, unchanged, changed, broken, skipped].map((n) => n.toLocaleString());
  return `${all} runs: ${same} unchanged, ${other} changed, ${lost} broken${skipped > 0 ? `; ${rest} not compared` : ''}`;
}

/** What of its triggers differs; empty: nothing. */
export function triggerTexts({ change, sampled, present, candidate, schedules, flow }: TriggersRow): string[] {
  return [
    ...(change ? [change] : []),
    ...(present === candidate ? [] : [`would start ${candidate} of ${sampled} sampled events, now ${present}`]),
    ...(schedules ? [`schedules: ${schedules.candidate} ticks, now ${schedules.present}`] : []),
    ...(flow?.candidate ? [`limits, simulated: ${simulatedText(flow.candidate)}`] : []),
    ...(flow?.present ? [`now: ${simulatedText(flow.present)}`] : []),
  ];
}

function simulatedText({ runs, skipped, merged, waiting_max, wait_p99_ms }: Simulated): string {
  const left = skipped.rate_limited + skipped.idempotent + skipped.singleton;
  const waits = `at most ${waiting_max} waiting, p99 ${Math.round(wait_p99_ms / 100) / 10} s`;
  return `${runs} runs, ${left} skipped, ${merged} merged, ${waits}`;
}
