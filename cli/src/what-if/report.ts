/** The report of a what-if, for a terminal and as Markdown. */
import type { Json } from '../api-client.ts';
import type { Output } from '../output.ts';
import {
  countsText,
  courseText,
  isDiffering,
  type Quote,
  RUNS,
  resultsText,
  SCOPES,
  type Scope,
  skipText,
  stopText,
  type TriggersOfFunction,
  triggerTexts,
  whatHappens,
} from './words.ts';

/** Values of `--fail-on`: a result, of one scope or both, or of the triggers. */
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
    if (condition === 'changed-triggers') return rowsOf(whatIf).some(isDiffering) || Boolean(whatIf.triggers?.problem);
    const [result, scope] = condition.split('-');
    return (whatIf.functions as Json[]).some((fn) =>
      SCOPES.some((one) => {
        const { changed, broken } = fn[one];
        return (scope ?? one) === one && broken + (result === 'changed' ? changed : 0) > 0;
      }),
    );
  });
}

export function printReport(output: Output, whatIf: Json): void {
  for (const fn of whatIf.functions as Json[]) {
    for (const line of linesOf(fn)) output.line(line.isBad ? output.paint('red', line.text) : line.text);
    for (const example of fn.examples as Json[]) {
      for (const text of detailsOf(example)) output.line(`    ${text}`);
    }
  }
  const stop = stopText(whatIf.stopped_because);
  if (stop !== undefined) output.line(stop);
  for (const text of triggerLines(whatIf, JSON.stringify)) output.line(text);
  output.line(countsText(whatIf));
}

function rowsOf({ triggers }: Json): TriggersOfFunction[] {
  return triggers?.functions ?? [];
}

/** The first line is about all, the others about what differs of a function each. */
function triggerLines(whatIf: Json, quote: Quote): string[] {
  const { triggers } = whatIf;
  if (!triggers) return [];
  if (triggers.problem) return [`triggers: not compared: ${triggers.problem}`];
  const rows = rowsOf(whatIf);
  const others = rows.filter(isDiffering).length;
  const rest = triggers.complete ? '' : ', not of all names';
  return [
    `triggers, by a sample of ${triggers.sampled} events since ${triggers.since}${rest}: ${rows.length - others} functions as before, ${others} not`,
    ...rows.flatMap((row) => triggerTexts(row).map((text) => `  ${quote(row.id)}: ${text}`)),
    ...(triggers.flow_complete ? [] : ['  flow control of some functions was not simulated']),
  ];
}

export function markdownOf(whatIf: Json): string {
  const { app, url, functions } = whatIf;
  const lines = [`## What-if: ${code(app)} at ${code(url)}`, '', `**${countsText(whatIf)}.**`];
  const stop = stopText(whatIf.stopped_because);
  if (stop !== undefined) lines.push('', stop);
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
    const { checked, broken, skips } = fn[scope];
    if (checked > 0) {
      lines.push({ text: `  ${RUNS[scope]}: ${resultsText(fn[scope])}`, isBad: broken > 0 });
    }
    for (const [reason, count] of Object.entries(skips)) {
      lines.push({ text: `  ${RUNS[scope]}: ${count} not compared: ${skipText(reason)}`, isBad: false });
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

function coursesOf({ recorded, candidate }: Json, quote: Quote): string[] {
  return [
    ['recorded', recorded],
    ['candidate', candidate],
  ].flatMap(([who, course]) => {
    const text = courseText(course, quote);
    return text === undefined ? [] : [`${who}: ${text}`];
  });
}

/** Inline code, whatever is in it. */
export function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}
