/** `tidegate replay events`. */
import type { Command } from 'commander';
import type { Json } from './api-client.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';
import { wholeNumber } from './input.ts';
import { at, type TimeOptions, withTimes } from './list-options.ts';
import type { Output } from './output.ts';
import { follow, showProgress } from './progress.ts';

interface Options extends TimeOptions {
  status: string;
  function?: string[];
  name?: string;
  source?: string;
  search?: string;
  idPrefix?: string;
  label?: string;
  rate?: number;
  dryRun?: boolean;
  yes?: boolean;
  detach?: boolean;
}

const DAY_MS = 86_400_000;
const HELP = `
Examples:
  tidegate replay events --since 2h --status Failed --name 'order/*' --dry-run
  tidegate replay events --since 7d --status none --function shop-send-receipt --yes`;

export function registerEventReplay(replay: Command, context: Context): void {
  withTimes(replay.command('events'), 'received')
    .description('Runs functions again on past events, by how their latest runs ended.')
    .requiredOption(
      '--status <statuses>',
      'Completed, Failed, Cancelled, none (there was no run), or several: Failed,none',
    )
    .option('--function <ids...>', 'these functions; default: all whose triggers match an event now')
    .option('--name <name>', 'events with this name, or with the beginning of several: order/*')
    .option('--source <source>', 'such as webhook:<id>, or webhook for all webhooks')
    .option('--search <condition>', "a condition such as 'data.total > 100'")
    .option('--id-prefix <prefix>', 'events whose internal IDs begin so')
    .option('--label <text>', 'its name in lists of replays')
    .option('--rate <runs>', 'runs to start per second; default: 50', wholeNumber(1, 1_000))
    .option('--dry-run', 'only count')
    .option('-y, --yes', 'start it without asking')
    .option('--detach', 'do not wait until all runs are started')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const api = context.api();
      const output = context.output();
      const body = bodyOf(options);
      const { data: counted } = await api.post('/v1/replays', { ...body, dry_run: true });
      if (options.dryRun) return output.result(counted, () => printCount(output, counted));
      if (!output.json) printCount(output, counted);
      if (counted.would_start === 0) return output.result(counted, () => {});
      await confirm(
        context,
        `Start ${numberOf(counted)} runs in ${api.settings.environment ?? 'production'}?`,
        options.yes,
      );
      // The range that was counted, by the clock of the service.
      const { received_after, received_before } = counted;
      const { data: begun } = await api.post('/v1/replays', { ...body, received_after, received_before });
      const read = async () => (await api.get(at`/v1/replays/${begun.id}`)).data;
      const ended = options.detach
        ? begun
        : await follow(read, isOver, context, (now) => showProgress(context, lineOf(now)));
      output.result(ended, () => output.line(`${begun.id}  ${lineOf(ended)}`));
    });
}

function bodyOf({ since, until, status, function: functions, name, source, search, idPrefix, label, rate }: Options) {
  // By its own clock, the service ends the range no later than now.
  const future = new Date(Date.now() + DAY_MS).toISOString();
  return {
    filter: { name, source, search, id_prefix: idPrefix },
    received_after: since ?? new Date(0).toISOString(),
    received_before: until ?? future,
    statuses: status.split(','),
    ...(functions && { functions: functions.flatMap((ids) => ids.split(',')) }),
    ...(label !== undefined && { name: label }),
    ...(rate !== undefined && { rate }),
  };
}

function isOver({ status }: Json): boolean {
  return !['running', 'paused', 'cancelling'].includes(status);
}

function printCount(output: Output, counted: Json): void {
  const rows = counted.by_function.map((one: Json) => [one.function_id, one.would_start, pairs(one.by_former_status)]);
  output.table(['FUNCTION', 'RUNS', 'LATEST RUNS'], rows, 'No runs would start.');
  output.line();
  const skipped = Object.keys(counted.skipped).length > 0 ? `; skipped: ${pairs(counted.skipped)}` : '';
  output.line(`${counted.looked_at} events meet the filter, ${counted.matched} of them match${skipped}.`);
  if (counted.stopped_at) output.line(`Counted up to ${counted.stopped_at} only: all numbers are at least.`);
}

function numberOf({ would_start, stopped_at }: Json): string {
  return stopped_at ? `at least ${would_start}` : String(would_start);
}

function lineOf({ status, waiting_because, progress, runs }: Json): string {
  const { looked_at, started, skipped, failed_to_start, estimated_seconds_left } = progress;
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, one) => all + one, 0);
  const parts = [
    status + (waiting_because ? ` (waits: ${waiting_because})` : ''),
    `${looked_at} events`,
    `${started} runs started`,
    `${sum(skipped)} skipped`,
    `${sum(failed_to_start)} failed to start`,
    `runs: ${runs.active} active, ${runs.completed} completed, ${runs.failed} failed`,
    ...(estimated_seconds_left === null ? [] : [`${estimated_seconds_left} s left`]),
  ];
  return parts.join('; ');
}

function pairs(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
