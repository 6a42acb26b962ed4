/** `tidegate deploys`: the versions of apps: which one new runs start on, and which can be stopped (docs/change-code-safely.md). */
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import { type BulkOptions, changeMany, withBulkOptions } from '../bulk-runs.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { duration, wholeNumber } from '../input.ts';
import { at } from '../list-options.ts';
import type { Output } from '../output.ts';

const CHECK_MS = 2_000;
/** A run that was being created when the next version became active may come a moment later. */
const DRAINED_CHECKS = 2;

interface ActivateOptions {
  app: string;
  percent?: number;
  abortAbove?: number;
  minRuns?: number;
  yes?: boolean;
}

export function register(program: Command, context: Context): void {
  const deploys = program
    .command('deploys')
    .summary('list, activate and wait for the versions of an app')
    .description('The versions of an app: what it registered with each build.');
  deploys
    .command('list')
    .alias('ls')
    .description('Lists the versions of an app with their states. A version that is drained can be stopped.')
    .requiredOption('--app <name>', 'name of the app')
    .action(async ({ app }: { app: string }) => {
      const versions = await versionsOf(context.api(), app);
      const output = context.output();
      output.result(versions, () => printVersions(output, versions));
    });
  registerWait(deploys, context);
  deploys
    .command('activate')
    .description('Makes a version active: new runs start on it. Runs that are pinned to others stay where they are.')
    .argument('<version>')
    .requiredOption('--app <name>', 'name of the app')
    .option('--percent <number>', 'only this share of the new runs of pinned functions; 0: none', wholeNumber(0, 100))
    .option('--abort-above <percent>', 'with --percent: back to none when more of its runs fail', wholeNumber(0, 99))
    .option(
      '--min-runs <number>',
      'with --abort-above: not before this many have ended (20)',
      wholeNumber(1, 1_000_000),
    )
    .option('-y, --yes', 'do not ask')
    .action(async (version: string, options: ActivateOptions) => {
      const { app, percent: share = 100, abortAbove, minRuns, yes } = options;
      if (minRuns !== undefined && abortAbove === undefined) throw usageError('--min-runs needs --abort-above');
      const what = share === 100 ? 'new runs' : `${share} % of the new runs`;
      await confirm(context, `Start ${what} of ${app} on the version ${version}?`, yes);
      const path = at`/v1/apps/${app}/versions/${version}/activate`;
      const bound = abortAbove !== undefined && {
        failure_rate: abortAbove / 100,
        ...(minRuns !== undefined && { min_runs: minRuns }),
      };
      const body = { percent: share, ...(bound && { abort_when: bound }) };
      const { data } = await context.api().post(path, share === 100 && !bound ? undefined : body);
      const output = context.output();
      output.result(data, () =>
        output.line(`${version} is ${data.state}: ${data.percent} % of the new runs start on it.`),
      );
    });
  withBulkOptions(deploys.command('move'))
    .description('Moves the runs that are pinned to a version of an app to another one. They are counted first.')
    .requiredOption('--app <name>', 'name of the app')
    .requiredOption('--from <version>', 'the version to which they are pinned')
    .option('--to <version>', 'the version on which they end; default: they continue with the active one')
    .action(async (options: { app: string; from: string; to?: string } & BulkOptions) => {
      const { app, from, to = null, ...bulk } = options;
      await changeMany('move', { app, app_version: from }, bulk, context, { version: to });
    });
}

function registerWait(deploys: Command, context: Context): void {
  deploys
    .command('wait')
    .description('Waits until a version is drained, and can be stopped. For pipelines.')
    .argument('<version>')
    .requiredOption('--app <name>', 'name of the app')
    .option('--drained', 'until no run needs it; the default')
    .option('--timeout <duration>', 'give up after 90s, 15m, 2h, … and exit with 6', duration)
    .action(async (version: string, { app, timeout }: { app: string; timeout?: number }) => {
      const until = timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeout;
      const drained = await whenDrained(context, { app, version, until });
      const output = context.output();
      output.result(drained, () => output.line(`${version} is drained: it can be stopped.`));
    });
}

async function whenDrained(
  context: Context,
  { app, version, until }: { app: string; version: string; until: number },
): Promise<Json> {
  for (let checks = 0; ; ) {
    const found = (await versionsOf(context.api(), app)).find((one) => one.version === version);
    if (!found) throw usageError(`The app ${app} has no version ${version}`, 'It has those of: tidegate deploys list');
    if (found.state === 'active') {
      throw usageError(
        `The version ${version} is active: new runs start on it`,
        'Deploy or activate another one first',
      );
    }
    if (found.state === 'waiting') {
      throw usageError(`The version ${version} waits for its activation`, 'Nothing calls it; it never had runs');
    }
    checks = found.state === 'drained' ? checks + 1 : 0;
    if (checks === DRAINED_CHECKS) return found;
    if (Date.now() + CHECK_MS > until) {
      const message = `${version} is not drained: ${found.active_runs} runs are pinned to it`;
      const hint = `Move them: tidegate deploys move --app ${app} --from ${version}`;
      throw new CliError(message, { exitCode: EXIT.timedOut, hint });
    }
    await setTimeout(CHECK_MS, undefined, { signal: context.signal });
  }
}

function versionsOf(api: ApiClient, app: string): Promise<Json[]> {
  return api.all(at`/v1/apps/${app}/versions`);
}

function printVersions(output: Output, versions: Json[]): void {
  output.table(
    ['VERSION', 'STATE', 'PERCENT', 'FAILED', 'RUNS', 'OLDEST', 'LAST WAKE', 'REGISTERED', 'URL'],
    versions.map((one) => [
      one.version,
      one.state,
      one.percent,
      one.ramp && `${one.ramp.failed_runs} of ${one.ramp.ended_runs}${one.ramp.aborted_at ? ', aborted' : ''}`,
      one.active_runs,
      one.oldest_run_at,
      one.last_wake_at,
      one.registered_at,
      one.url,
    ]),
    'No versions: the app does not name its builds (appVersion).',
  );
}
