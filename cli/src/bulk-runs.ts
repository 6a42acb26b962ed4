/** `runs cancel`, `runs retry`, `runs resume` and `deploys move` by filter: counted, asked, and followed to the end. */
import type { Command } from 'commander';
import type { Json } from './api-client.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';
import { usageError } from './exit-codes.ts';
import { wholeNumber } from './input.ts';
import { at } from './list-options.ts';
import type { Output } from './output.ts';
import { follow, showProgress } from './progress.ts';

const WORDS = {
  cancel: { asks: 'Cancel', done: 'cancelled' },
  retry: { asks: 'Re-run', done: 're-run' },
  resume: { asks: 'Resume', done: 'resumed' },
  move: { asks: 'Move', done: 'moved' },
};

export interface BulkOptions {
  all?: boolean;
  rate?: number;
  dryRun?: boolean;
  yes?: boolean;
  detach?: boolean;
  includeAlreadyRerun?: boolean;
}

export function withBulkOptions(command: Command): Command {
  return command
    .option('--all', 'without IDs and filters: all runs')
    .option('--rate <runs>', 'by filter: re-runs or resumed runs per second; default: 50', wholeNumber(1, 1_000))
    .option('--dry-run', 'by filter: only count')
    .option('-y, --yes', 'by filter: do not ask')
    .option('--detach', 'by filter: do not wait for the end');
}

/** @param filter the query of GET /v1/runs */
export async function changeMany(
  action: keyof typeof WORDS,
  filter: Record<string, string | undefined>,
  options: BulkOptions,
  context: Context,
  more: Record<string, Json> = {},
): Promise<void> {
  const { all = false, rate, dryRun, yes, detach, includeAlreadyRerun } = options;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  if (!isFiltered && !all) throw usageError('Name the runs by ID, by filter, or with --all');
  const api = context.api();
  const output = context.output();
  const given = { ...(rate !== undefined && { rate }), ...(includeAlreadyRerun && { include_already_rerun: true }) };
  const body = { action, filter, all, ...more, ...given };
  const { data: counted } = await api.post('/v1/runs/bulk', { ...body, dry_run: true });
  if (dryRun) return output.result(counted, () => printCount(output, counted));
  if (!output.json) printCount(output, counted);
  if (counted.count === leftOut(counted)) return output.result(counted, () => {});
  const where = api.settings.environment ?? 'production';
  await confirm(context, `${WORDS[action].asks} ${numberOf(counted)} runs in ${where}?`, yes);
  // Runs that were queued since the count are left alone.
  const { queued_before } = counted.filter;
  const { data: begun } = await api.post('/v1/runs/bulk', { ...body, filter: { ...filter, queued_before } });
  const read = async () => (await api.get(at`/v1/runs/bulk/${begun.id}`)).data;
  const isOver = ({ status }: Json) => status !== 'running';
  const ended = detach ? begun : await follow(read, isOver, context, (now) => showProgress(context, lineOf(now)));
  output.result(ended, () => output.line(`${begun.id}  ${lineOf(ended)}`));
}

function printCount(output: Output, counted: Json): void {
  const rows = counted.by_function.map((one: Json) => [one.function_id, one.count]);
  output.table(['FUNCTION', 'RUNS'], rows, 'No runs meet the filter.');
  for (const [reason, count] of Object.entries(counted.skipped)) output.line(`${count} left out: ${reason}`);
  if (counted.skipped.already_rerun) output.line('--include-already-rerun re-runs those, too.');
  if (counted.stopped_at) output.line(`Counted back to ${counted.stopped_at} only: all numbers are at least.`);
}

function numberOf(counted: Json): string {
  const count = counted.count - leftOut(counted);
  return counted.stopped_at ? `at least ${count}` : String(count);
}

/** Number of runs that a re-run leaves out. */
function leftOut({ skipped }: Json): number {
  return Object.values<number>(skipped).reduce((sum, count) => sum + count, 0);
}

function lineOf({ action, status, matched, progress, waiting_because }: Json): string {
  const { done } = WORDS[action as keyof typeof WORDS];
  const skipped = Object.entries(progress.skipped).map(([reason, count]) => `; ${count} skipped: ${reason}`);
  const waits = waiting_because ? ` (waits: ${waiting_because})` : '';
  return `${status}${waits}; ${progress.done} of ${matched.count} ${done}${skipped.join('')}`;
}
