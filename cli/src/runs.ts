/** Runs as people read them. */
import type { Json } from './api-client.ts';
import { CliError } from './exit-codes.ts';
import { type Output, printable } from './output.ts';

export function printRuns(output: Output, runs: Json[]): void {
  const rows = runs.map((run) => [
    run.run_id,
    run.function_id,
    output.status(run.status),
    run.queued_at,
    tookOf(run),
    run.error ? `${run.error.name}: ${run.error.message}` : '',
  ]);
  output.table(['RUN', 'FUNCTION', 'STATUS', 'QUEUED', 'TOOK', 'ERROR'], rows, 'No runs.');
}

export function printRun(output: Output, run: Json): void {
  output.fields({
    run: run.run_id,
    function: run.function_id,
    event: run.event_id,
    status: run.status,
    state: stateText(run),
    attempt: attemptText(run),
    queued: run.queued_at,
    started: run.run_started_at,
    ended: run.ended_at,
    took: tookOf(run),
    'next attempt': run.next_try_at,
    'waits for': run.waiting,
    'cancelled by': run.cancel_reason,
    're-run of': run.retry_of,
    version: run.app_version,
    replay: run.replay_id,
    error: run.error && (run.error.stack ?? `${run.error.name}: ${run.error.message}`),
    output: run.status === 'Failed' ? undefined : run.output,
  });
  output.line();
  const rows = shownEntries(run.history).map((entry) => [
    nameOf(entry),
    output.status(entry.status),
    tookOf(entry),
    noteOf(entry),
  ]);
  output.table(['ATTEMPT OR STEP', 'STATUS', 'TOOK', 'NOTE'], rows, 'Nothing happened yet.');
}

/** The entries shown to people: a successful call is represented by its steps. A run without steps shows its calls. */
export function shownEntries(history: Json[]): Json[] {
  const steps = history.filter(({ kind }) => kind === 'step');
  const tells = (call: Json) =>
    steps.some(
      ({ step_id, attempt }) => call.step_id === null || (step_id === call.step_id && attempt === call.attempt),
    );
  return history.filter((entry) => entry.kind === 'step' || entry.status !== 'Completed' || !tells(entry));
}

/** Lines of a run's log, with their fields as JSON. */
export function printLog(output: Output, lines: Json[]): void {
  if (lines.length === 0) output.line('Nothing was logged.');
  for (const { at, level, message, fields } of lines) {
    const rest = fields ? `${message}  ${JSON.stringify(fields)}` : message;
    output.line(`${at}  ${level.padEnd(5)}  ${printable(rest)}`);
  }
}

/** An entry of the history on one line. */
export function entryLine(output: Output, entry: Json): string {
  const { text, paint } = output.status(entry.status) as { text: string; paint: (text: string) => string };
  const rest = [nameOf(entry), tookOf(entry), noteOf(entry)].filter(Boolean).join('  ');
  return `${paint(text.padEnd(9))}  ${printable(rest)}`;
}

/** @throws CliError unless the run completed */
export function endWith(run: Json, output: Output): void {
  if (run.status === 'Completed') {
    output.item(run, () => output.line(printable(JSON.stringify(run.output, null, 2))));
    return;
  }
  if (output.json) output.item(run, () => {});
  const reason = run.error ? `: ${run.error.name}: ${run.error.message}` : '';
  throw new CliError(`The run ${run.run_id} ended as ${run.status}${reason}`);
}

/** Details that the status does not show; undefined: none, or the service has an earlier version. */
function stateText({ status, state }: Json): string | undefined {
  if (!state || state.kind === status.toLowerCase()) return undefined;
  const { kind, name, function_id, step, position, limit, attempt, until, others } = state;
  const words = [
    kind.replaceAll('_', ' '),
    kind.startsWith('waiting') ? name : (function_id ?? step?.name),
    position && `at position ${position} in line`,
    limit && `by ${limit.kind.replaceAll('_', ' ')} ${limit.limit}`,
    attempt && `before attempt ${attempt} of ${state.max_attempts}`,
    until && `until ${until}`,
    others && `and ${others} more`,
  ];
  return words.filter(Boolean).join(' ');
}

/** The attempt of the current or last call, counted from 1. */
function attemptText({ attempt, run_started_at }: Json): number | undefined {
  return run_started_at ? attempt + 1 : undefined;
}

/** Names of the operations of steps. */
const KINDS: Record<string, string> = {
  Sleep: 'sleep',
  WaitForEvent: 'wait for event',
  WaitForSignal: 'wait for signal',
  InvokeFunction: 'invoke',
  Gateway: 'fetch',
  AIGateway: 'ai',
  DeferAdd: 'defer',
  DeferAbort: 'defer',
};
const STEPS: readonly string[] = ['Step', 'StepRun', 'StepPlanned', 'StepError', 'StepFailed'];

function nameOf({ kind, name, op, attempt }: Json): string {
  const number = attempt === null ? '' : `attempt ${attempt + 1}`;
  if (kind === 'attempt') return name === null ? `function, ${number}` : `${name} (step), ${number}`;
  const what = STEPS.includes(op) ? 'step' : (KINDS[op] ?? op);
  return `${name ?? ''} (${what})${attempt > 0 ? `, ${number}` : ''}`;
}

function noteOf({ error, until, waits_for, timed_out }: Json): string {
  if (error) return `${error.name}: ${error.message}`;
  const parts = [waits_for && `waits for ${waits_for}`, until && `until ${until}`, timed_out && 'timed out'];
  return parts.filter(Boolean).join(' ');
}

function tookOf({ run_started_at, started_at = run_started_at, ended_at }: Json): string {
  if (!started_at || !ended_at) return '';
  const ms = Date.parse(ended_at) - Date.parse(started_at);
  if (ms < 1_000) return `${ms} ms`;
  return ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
