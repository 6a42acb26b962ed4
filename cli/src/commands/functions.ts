/** `tidegate functions`: reads, configures, pauses and resumes functions. */
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { at } from '../list-options.ts';
import { addAction } from '../resource.ts';
import { printFunctions } from './apps.ts';

export function register(program: Command, context: Context): void {
  const functions = program
    .command('functions')
    .summary('list, read, configure, pause and resume functions')
    .description('The functions of an environment.');
  functions
    .command('list')
    .alias('ls')
    .description('Lists functions.')
    .option('--app <name>', 'of this app')
    .option('--archived', 'those that their apps no longer register')
    .action(async ({ app, archived }: { app?: string; archived?: boolean }) => {
      const found = await context.api().all('/v1/functions', { app, archived: archived ? 'true' : undefined });
      const output = context.output();
      output.result(found, () => printFunctions(output, found));
    });
  functions
    .command('get')
    .description('Shows a function with its configuration and the use of its limits.')
    .argument('<id>', 'with the name of the app in front: shop-send-receipt')
    .action(async (id: string) => {
      const api = context.api();
      const { data: fn } = await api.get(at`/v1/functions/${id}`);
      const output = context.output();
      output.result(fn, () => {
        const { name, app, url, retries, paused_at, queued_runs, problems, expression_problem, triggers, cancel } = fn;
        output.fields({ function: fn.id, name, app, URL: url, retries, 'without an attempt left': fn.on_exhausted });
        output.fields({ paused: paused_at, 'queued runs': queued_runs });
        output.fields({
          triggers,
          'cancelled by': cancel.length > 0 ? cancel : undefined,
          configuration: fn.configuration,
        });
        output.fields({ problems: problems.join('\n'), 'expression problem': expression_problem });
      });
    });
  functions
    .command('pause')
    .description('Pauses a function: neither events nor schedules start it, also not later.')
    .argument('<id>')
    .addOption(
      new Option('--queued-runs <what>', 'runs that have not started: start as usual, wait, or are cancelled').choices([
        'run',
        'hold',
        'cancel',
      ]),
    )
    .action(async (id: string, { queuedRuns }: { queuedRuns?: string }) => {
      const body = queuedRuns === undefined ? {} : { queued_runs: queuedRuns };
      const { data } = await context.api().post(at`/v1/functions/${id}/pause`, body);
      const output = context.output();
      output.result(data, () => output.line(`Paused ${id}.`));
    });
  functions
    .command('set')
    .description('Changes the settings of a function, which go before what its app registers.')
    .argument('<id>')
    .addOption(
      new Option('--on-exhausted <what>', 'runs without an attempt left: fail, pause, or as the app says')
        .choices(['fail', 'pause', 'app'])
        .makeOptionMandatory(),
    )
    .action(async (id: string, { onExhausted }: { onExhausted: string }) => {
      const body = { on_exhausted: onExhausted === 'app' ? null : onExhausted };
      const { data } = await context.api().patch(at`/v1/functions/${id}`, body);
      const output = context.output();
      output.result(data, () => output.line(`Runs of ${id} ${data.on_exhausted} without an attempt left.`));
    });
  addAction(functions, context, {
    name: 'resume',
    description: 'Resumes a paused function.',
    path: (id) => at`/v1/functions/${id}/resume`,
    done: (id) => `Resumed ${id}.`,
  });
}
