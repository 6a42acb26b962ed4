/** `tidegate replay requests`. */
import type { Command } from 'commander';
import type { Json } from './api-client.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';
import { idOfWebhook } from './find-webhook.ts';
import { readFileOf, wholeNumber } from './input.ts';
import { at, type TimeOptions, withTimes } from './list-options.ts';
import type { Output } from './output.ts';
import { follow, showProgress } from './progress.ts';

interface Options extends TimeOptions {
  outcome?: string;
  reason?: string[];
  request?: string[];
  transform?: string;
  rate?: number;
  dryRun?: boolean;
  yes?: boolean;
  detach?: boolean;
}

const HELP = `
Examples:
  tidegate replay requests 01K… --outcome rejected --reason transform_failed --dry-run
  tidegate replay requests 01K… --since 2h --transform fixed.js --yes`;

export function registerRequestReplay(replay: Command, context: Context): void {
  withTimes(replay.command('requests'), 'received')
    .description('Processes logged requests of a webhook again, as if they were received now.')
    .argument('<webhook>', 'its ID or name')
    .option('--outcome <outcomes>', 'accepted, ignored, filtered, held, rejected, or several')
    .option('--reason <reasons...>', 'requests with these reasons, such as transform_failed')
    .option('--request <ids...>', 'these requests alone')
    .option('--transform <file>', 'with this transform, which is not saved')
    .option('--rate <requests>', 'requests per second; default: 10', wholeNumber(1, 100))
    .option('--dry-run', 'only count, and show what the newest make')
    .option('-y, --yes', 'start it without asking')
    .option('--detach', 'do not wait for its end')
    .addHelpText('after', HELP)
    .action(async (webhook: string, options: Options) => {
      const api = context.api();
      const output = context.output();
      const path = at`/v1/webhooks/${await idOfWebhook(api, webhook)}/replays`;
      const body = await bodyOf(options);
      const { dry_run: counted } = (await api.post(path, { ...body, dry_run: true })).data;
      if (options.dryRun) return output.result(counted, () => printCount(output, counted));
      if (!output.json) printCount(output, counted);
      if (counted.total === 0) return output.result(counted, () => {});
      await confirm(context, `Process ${numberOf(counted)} requests again?`, options.yes);
      const { replay: begun } = (await api.post(path, { ...body, dry_run: false })).data;
      const read = async () => (await api.get(`${path}/${begun.id}`)).data;
      const ended = options.detach
        ? begun
        : await follow(read, isOver, context, (now) => showProgress(context, lineOf(now)));
      output.result(ended, () => output.line(`${begun.id}  ${lineOf(ended)}`));
    });
}

async function bodyOf({ since, until, outcome, reason, request, transform, rate }: Options) {
  return {
    ...(since !== undefined && { from: since }),
    ...(until !== undefined && { to: until }),
    ...(outcome !== undefined && { outcomes: outcome.split(',') }),
    ...(reason && { reasons: reason.flatMap((one) => one.split(',')) }),
    ...(request && { request_ids: request.flatMap((one) => one.split(',')) }),
    ...(transform !== undefined && { draft: await readFileOf(transform) }),
    ...(rate !== undefined && { rate }),
  };
}

function isOver({ state }: Json): boolean {
  return !['running', 'paused'].includes(state);
}

function printCount(output: Output, counted: Json): void {
  const rows = counted.sample.map(({ request_id, received_at, logged, after }: Json) => [
    request_id,
    received_at,
    logged.outcome,
    after.outcome,
    after.event_name,
    after.reason,
    after.message,
  ]);
  output.table(['REQUEST', 'RECEIVED', 'WAS', 'IS NOW', 'EVENT', 'REASON', 'MESSAGE'], rows, 'No requests.');
  output.line();
  output.line(`${numberOf(counted)} requests in all; the newest are shown.`);
}

function numberOf({ total, total_is_exact }: Json): string {
  return total_is_exact ? String(total) : `at least ${total}`;
}

function lineOf({ state, waiting_for, total, done, failed, skipped }: Json): string {
  const waits = waiting_for ? ` (waits: ${waiting_for})` : '';
  return `${state}${waits}; ${done + failed + skipped} of ${total} requests; ${done} made an event, ${failed} failed, ${skipped} skipped`;
}
