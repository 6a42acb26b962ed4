/** `tidegate runs`: lists, reads, follows, cancels, resumes and re-runs runs. */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import { type BulkOptions, changeMany, withBulkOptions } from '../bulk-runs.ts';
import type { Context } from '../context.ts';
import { usageError } from '../exit-codes.ts';
import { duration } from '../input.ts';
import { at, type ListOptions, type TimeOptions, withLimit, withTimes } from '../list-options.ts';
import type { Output } from '../output.ts';
import { endWith, printLog, printRun, printRuns } from '../runs.ts';
import { watchRun } from '../watch-run.ts';

interface Filters {
  status?: string;
  state?: string;
  function?: string;
  app?: string;
  appVersion?: string;
  event?: string;
  error?: string;
  search?: string;
}

export function register(program: Command, context: Context): void {
  const runs = program
    .command('runs')
    .summary('list, read, follow, cancel, resume and re-run runs')
    .description('Reads runs, follows them, cancels them, resumes them and runs them again.');
  registerReads(runs, context);
  registerChanges(runs, context);
}

export function withRunFilters(command: Command): Command {
  return withTimes(command, 'queued')
    .option('--status <status>', 'Queued, Running, Completed, Failed, Cancelled, or several: Failed,Cancelled')
    .option('--state <state>', 'paused, sleeping, retrying, … (docs/functions.md), or several: paused,retrying')
    .option('--function <id>', 'ID of a function, or the beginning of several: shop-*')
    .option('--app <name>', 'runs of the functions of an app')
    .option('--app-version <version>', 'runs that are pinned to a version of their app')
    .option('--event <id>', 'runs that an event triggered: its internal ID')
    .option('--error <text>', 'a text in the name or the message of the error')
    .option('--search <condition>', "a condition such as 'output.total > 100' (docs/search.md)");
}

/** The query of GET /v1/runs. */
export function runQuery(options: Filters & TimeOptions) {
  const { status, state, function: functionId, app, appVersion, event, error, search, since, until } = options;
  return {
    status,
    state,
    function_id: functionId,
    app,
    app_version: appVersion,
    event_id: event,
    error,
    search,
    queued_after: since,
    queued_before: until,
  };
}

function registerReads(runs: Command, context: Context): void {
  withLimit(withRunFilters(runs.command('list').alias('ls').description('Lists runs, newest first.'))).action(
    async ({ limit, ...filters }: Filters & TimeOptions & ListOptions) => {
      const found = await context.api().list('/v1/runs', runQuery(filters), limit);
      const output = context.output();
      output.result(found, () => printRuns(output, found));
    },
  );
  runs
    .command('get')
    .description('Shows a run with its attempts and steps.')
    .argument('<id>')
    .action(async (id: string) => {
      const { data: run } = await context.api().get(at`/v1/runs/${id}`);
      const output = context.output();
      output.result(run, () => printRun(output, run));
    });
  runs
    .command('logs')
    .description('Shows what the function of a run has logged, the oldest line first.')
    .argument('<id>')
    .option('--level <level>', 'debug, info, warn, error, or several: warn,error')
    .action(async (id: string, { level }: { level?: string }) => {
      const lines = await context.api().all(at`/v1/runs/${id}/logs`, { level });
      const output = context.output();
      output.result(lines, () => printLog(output, lines));
    });
  runs
    .command('watch')
    .description('Follows a run to its end. Exits with 1 unless the run completes.')
    .argument('<id>')
    .option('--timeout <duration>', 'give up after 90s, 15m, 2h, … and exit with 6', duration)
    .action(async (id: string, { timeout }: { timeout?: number }) => {
      const output = context.output();
      const run = await watchRun(context.api(), id, { output, timeoutMs: timeout, signal: context.signal });
      endWith(run, output);
    });
}

function registerChanges(runs: Command, context: Context): void {
  withBulkOptions(withRunFilters(runs.command('cancel')))
    .description('Cancels active runs: by ID, or by filter, which are counted first.')
    .argument('[ids...]')
    .action(async (ids: string[], options: Filters & TimeOptions & BulkOptions) => {
      const filter = runQuery(options);
      if (ids.length === 0) return changeMany('cancel', filter, options, context);
      rejectBeside(filter, options);
      await each(ids, context, async (id) => (await context.api().delete(at`/v1/runs/${id}`)).data);
    });
  withBulkOptions(withRunFilters(runs.command('retry')))
    .description('Runs ended runs again, each as a new run: by ID, or by filter, which are counted first.')
    .argument('[ids...]')
    .option('--from-step <step>', 'by ID: begin with this step of the run: its name, or its hashed ID')
    .option('--include-already-rerun', 'by filter: also runs whose re-run has completed')
    .action(async (ids: string[], options: Filters & TimeOptions & BulkOptions & { fromStep?: string }) => {
      const filter = runQuery(options);
      const { fromStep } = options;
      if (ids.length === 0 && fromStep !== undefined) throw usageError('--from-step needs the IDs of runs');
      if (ids.length === 0) return changeMany('retry', filter, options, context);
      rejectBeside(filter, options);
      await each(ids, context, async (id) => {
        const body = fromStep === undefined ? {} : { from_step: { step_id: await stepOf(id, fromStep, context) } };
        return (await context.api().post(at`/v1/runs/${id}/retry`, body)).data;
      });
    });
  withBulkOptions(withRunFilters(runs.command('resume')))
    .description('Resumes paused runs where they stopped: by ID, or by filter, which are counted first.')
    .argument('[ids...]')
    .action(async (ids: string[], options: Filters & TimeOptions & BulkOptions) => {
      const filter = runQuery(options);
      if (ids.length === 0) return changeMany('resume', filter, options, context);
      rejectBeside(filter, options);
      await each(ids, context, async (id) => (await context.api().post(at`/v1/runs/${id}/resume`)).data);
    });
  runs
    .command('fail')
    .description('Gives paused runs up: they fail with the error of their pause.')
    .argument('<ids...>')
    .action((ids: string[]) =>
      each(ids, context, async (id) => (await context.api().post(at`/v1/runs/${id}/fail`)).data),
    );
  runs
    .command('retry-now')
    .description('Makes the next attempt of runs at once, instead of when it is due.')
    .argument('<ids...>')
    .action((ids: string[]) =>
      each(ids, context, async (id) => (await context.api().post(at`/v1/runs/${id}/retry-now`)).data),
    );
}

/** IDs and a filter together have no clear meaning. */
function rejectBeside(filter: Record<string, string | undefined>, { all }: BulkOptions): void {
  if (all || Object.values(filter).some((value) => value !== undefined)) {
    throw usageError('Give IDs, or a filter, and not both');
  }
}

/** Changes one run after the other, and prints them. */
async function each(ids: string[], context: Context, change: (id: string) => Promise<Json>): Promise<void> {
  const output: Output = context.output();
  for (const id of ids) {
    const run = await change(id);
    output.item(run, () => output.line(`${run.run_id}  ${run.status}`));
  }
}

async function stepOf(runId: string, nameOrId: string, context: Context): Promise<string> {
  const { data: run } = await context.api().get(at`/v1/runs/${runId}`);
  const steps: Json[] = run.history.filter(({ kind }: Json) => kind === 'step');
  const step = steps.find(({ step_id, name }) => step_id === nameOrId || name === nameOrId);
  if (step) return step.step_id;
  const names = steps.map(({ name }) => JSON.stringify(name)).join(', ');
  throw usageError(`The run has no step ${JSON.stringify(nameOrId)}`, names && `It has: ${names}`);
}
