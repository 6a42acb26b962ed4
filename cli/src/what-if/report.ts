/** The report of a what-if, for a terminal and as Markdown. */
import type { Json } from '../api-client.ts';
import type { Output } from '../output.ts';

const SCOPES = ['active', 'past', 'failed'] as const;
type Scope = (typeof SCOPES)[number];

const RUNS: Readonly<Record<Scope, string>> = { active: 'active', past: 'completed', failed: 'failed' };
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

/** What `--fail-on` takes: a result, of one scope or both, or of the triggers. */
export const CONDITIONS = [
  'broken',
  'changed',
  'broken-active',
  'changed-active',
  'broken-past',
  'changed-past',
  'broken-failed',
  'changed-failed',
  'changed-triggers',
];

/** Whether any run meets a condition. What is broken is changed, too. */
export function meets(whatIf: Json, conditions: readonly string[]): boolean {
  return conditions.some((condition) => {
    if (condition === 'changed-triggers') return differing(whatIf).length > 0 || Boolean(whatIf.triggers?.problem);
    const [result, scope] = condition.split('-');
    return (whatIf.functions as Json[]).some((fn) =>
      SCOPES.some((one) => {
        const { changed, broken } = fn[one];
        return (scope ?? one) === one && broken + (result === 'changed' ? changed : 0) > 0;
      }),
    );
  });
}

export function summaryOf({ checked, unchanged, changed, broken, skipped }: Json): string {
  const rest = skipped > 0 ? `; ${skipped} not compared` : '';
  return `${checked} runs: ${unchanged} unchanged, ${changed} changed, ${broken} broken${rest}`;
}

export function printReport(output: Output, whatIf: Json): void {
  for (const fn of whatIf.functions as Json[]) {
    for (const line of linesOf(fn)) output.line(line.isBad ? output.paint('red', line.text) : line.text);
    for (const example of fn.examples as Json[]) {
      for (const text of detailsOf(example)) output.line(`    ${text}`);
    }
  }
  if (STOPS[whatIf.stopped_because]) output.line(STOPS[whatIf.stopped_because]);
  for (const text of triggerLines(whatIf, JSON.stringify)) output.line(text);
  output.line(summaryOf(whatIf));
}

function differing({ triggers }: Json): Json[] {
  const isOther = ({ change, present, candidate, schedules }: Json) =>
    change !== null || present !== candidate || schedules !== null;
  return triggers ? (triggers.functions as Json[]).filter(isOther) : [];
}

/** The first line is about all, the others about a function each that starts more or less often. */
function triggerLines(whatIf: Json, quote: Quote): string[] {
  const { triggers } = whatIf;
  if (!triggers) return [];
  if (triggers.problem) return [`triggers: not compared: ${triggers.problem}`];
  const others = differing(whatIf);
  const same = triggers.functions.length - others.length;
  const rest = triggers.complete ? '' : ', not of all names';
  return [
    `triggers, by a sample of ${triggers.sampled} events since ${triggers.since}${rest}: ${same} functions as before, ${others.length} not`,
    ...others.flatMap(({ id, change, sampled, present, candidate, received, schedules }) => {
      const ticks = schedules ? [`  ${quote(id)}: ${schedulesText(schedules)}`] : [];
      if (change === null && present === candidate) return ticks;
      const what = change ? `${change}; ` : '';
      const counts = `would start ${candidate} of the ${sampled} sampled events, now ${present} (${received} received)`;
      return [`  ${quote(id)}: ${what}${counts}`, ...ticks];
    }),
    ...(triggers.functions as Json[]).flatMap(({ id, flow }) => (flow ? [`  ${quote(id)}: ${flowText(flow)}`] : [])),
    ...(triggers.flow_complete ? [] : ['  flow control of some functions was not simulated']),
  ];
}

function schedulesText({ present, candidate, more, fewer, complete }: Json): string {
  const parts = [
    [more, 'more'],
    [fewer, 'fewer'],
  ].flatMap(([{ count, latest }, word]) => (count > 0 ? [`${count} ${word}, the latest at ${latest[0]}`] : []));
  const counts = [`its schedules would have ticked ${candidate} times, and did ${present} times`, ...parts].join('; ');
  return complete ? counts : `${counts}; there are more than were counted`;
}

function flowText({ from, to, measured_runs: measured, present, candidate }: Json): string {
  const sides = [`would have ${simulatedText(candidate)}`, ...(present ? [`now ${simulatedText(present)}`] : [])];
  const untimed = measured === 0 ? ', with runs that take no time, because none is stored' : '';
  return `a simulation of flow control from ${from} to ${to}${untimed}: ${sides.join('; ')}`;
}

function simulatedText({ runs, skipped, merged, cancelled, complete, ...rest }: Json): string {
  const counts = [
    [rest.events, 'events'],
    [runs, 'runs'],
    [skipped.rate_limited + skipped.idempotent + skipped.singleton, 'skipped'],
    [merged, 'merged'],
    [cancelled, 'cancelled'],
  ].filter(([count], i) => i < 2 || count > 0);
  const { waiting_max: waiting, wait_p99_ms: p99, wait_max_ms: longest } = rest;
  const waits =
    waiting > 0 ? [`at most ${waiting} waiting, for ${seconds(longest)} (p99 ${seconds(p99)})`] : ['none waiting'];
  return [...counts.map((one) => one.join(' ')), ...waits, ...(complete ? [] : ['stopped early'])].join(', ');
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

export function markdownOf(whatIf: Json): string {
  const { app, url, functions } = whatIf;
  const lines = [`## What-if: ${code(app)} at ${code(url)}`, '', `**${summaryOf(whatIf)}.**`];
  if (STOPS[whatIf.stopped_because]) lines.push('', STOPS[whatIf.stopped_because] as string);
  if (functions.length > 0) {
    lines.push('', '| function | runs | unchanged | changed | broken | not compared |', '|---|---|---|---|---|---|');
  }
  for (const fn of functions as Json[]) {
    for (const scope of SCOPES) {
      const { checked, unchanged, changed, broken, skipped } = fn[scope];
      if (checked + skipped === 0) continue;
      lines.push(`| ${code(fn.id)} | ${checked} ${RUNS[scope]} | ${unchanged} | ${changed} | ${broken} | ${skipped} |`);
    }
  }
  for (const fn of functions as Json[]) {
    for (const example of fn.examples as Json[]) {
      const { scope, cause, run_id } = example;
      const count = fn[scope].causes[cause];
      lines.push(
        '',
        `- ${code(fn.id)}, ${count} ${RUNS[scope as Scope]}: ${whatHappens(example, code)}. Such as ${code(run_id)}:`,
      );
      lines.push(...coursesOf(example, code).map((text) => `  - ${text}`));
    }
    for (const { text } of linesOf(fn).slice(1)) if (fn.examples.length === 0) lines.push('', `- ${text.trim()}`);
  }
  const [ofTriggers, ...ofFunctions] = triggerLines(whatIf, code);
  if (ofTriggers !== undefined) lines.push('', capitalized(ofTriggers), ...(ofFunctions.length > 0 ? [''] : []));
  lines.push(...ofFunctions.map((text) => `- ${text.trim()}`));
  return lines.join('\n');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function linesOf(fn: Json): { text: string; isBad: boolean }[] {
  const lines = [{ text: fn.id as string, isBad: false }];
  for (const scope of SCOPES) {
    const { checked, unchanged, changed, broken, skips } = fn[scope];
    if (checked > 0) {
      const text = `  ${RUNS[scope]}: ${unchanged} unchanged, ${changed} changed, ${broken} broken`;
      lines.push({ text, isBad: broken > 0 });
    }
    for (const [reason, count] of Object.entries(skips)) {
      lines.push({ text: `  ${RUNS[scope]}: ${count} not compared: ${SKIPS[reason] ?? reason}`, isBad: false });
    }
  }
  return lines;
}

function detailsOf(example: Json): string[] {
  const quote = (text: string) => JSON.stringify(text);
  return [
    `${RUNS[example.scope as Scope]}, such as ${example.run_id}: ${whatHappens(example, quote)}`,
    ...coursesOf(example, quote).map((text) => `  ${text}`),
  ];
}

type Quote = (text: string) => string;

function whatHappens({ cause, step, unused }: Json, quote: Quote): string {
  const name = step ? quote(step.name) : 'a step';
  const names = (unused as Json[]).map((one) => quote(one.name)).join(', ');
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

function coursesOf({ recorded, candidate }: Json, quote: Quote): string[] {
  return [
    ['recorded', recorded],
    ['candidate', candidate],
  ].flatMap(([who, course]) => {
    const text = courseText(course as Json, quote);
    return text === undefined ? [] : [`${who}: ${text}`];
  });
}

function courseText({ steps, output, error }: Json, quote: Quote): string | undefined {
  if (error) return `${error.name}: ${quote(error.message)}`;
  if (output !== null) return `returns ${quote(output)}`;
  return steps.length > 0 ? (steps as Json[]).map(({ name }) => quote(name)).join(', ') : undefined;
}

/** Inline code, whatever is in it. */
export function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}
