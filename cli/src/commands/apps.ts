/** `tidegate apps`: apps and their registration. */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { at } from '../list-options.ts';
import { type Output, printable } from '../output.ts';
import { addAction, addList } from '../resource.ts';
import { registerOrigins } from './app-origins.ts';

export function register(program: Command, context: Context): void {
  const apps = program
    .command('apps')
    .summary('list, register, diagnose and delete apps')
    .description('The apps of an environment.');
  addList(apps, context, {
    description: 'Lists apps.',
    path: '/v1/apps',
    headings: ['NAME', 'FUNCTIONS', 'REGISTERED', 'SDK', 'HELD', 'URL'],
    row: (app) => [app.name, app.function_count, app.registered_at, app.sdk, app.held_registrations || '', app.url],
  });
  apps
    .command('get')
    .description('Shows an app with its functions, and what of it does not act.')
    .argument('<name>')
    .action(async (name: string) => {
      const { data: app } = await context.api().get(at`/v1/apps/${name}`);
      const output = context.output();
      output.result(app, () => printApp(output, app));
    });
  apps
    .command('sync')
    .alias('create')
    .description('Asks the app at a URL to register its functions.')
    .argument('<url>', 'such as http://127.0.0.1:3000/api/service')
    .action(async (url: string) => {
      const { data } = await context.api().post('/v1/apps', { url });
      const output = context.output();
      output.result(data, () => printRegistration(output, data));
    });
  apps
    .command('check')
    .description('Diagnoses an app: sends it a probe, which runs nothing. Exits with 7 if there are problems.')
    .argument('<name>')
    .action(async (name: string) => {
      const { data: check } = await context.api().post(at`/v1/apps/${name}/check`);
      const output = context.output();
      output.result(check, () => printCheck(output, check));
      if (!check.ok) context.exitCode = EXIT.different;
    });
  registerConnections(apps, context);
  registerOrigins(apps, context);
  addAction(apps, context, {
    name: 'delete',
    description: 'Deletes an app. Its functions are archived until it registers again.',
    argument: 'name',
    method: 'DELETE',
    path: (name) => at`/v1/apps/${name}`,
    question: (name) => `Delete the app ${name}, so that events no longer trigger its functions?`,
    done: (name) => `Deleted ${name}.`,
  });
}

function registerConnections(apps: Command, context: Context): void {
  apps
    .command('connections')
    .description('Lists the live connections of an app that connects.')
    .argument('<name>')
    .action(async (name: string) => {
      const found = await context.api().all(at`/v1/apps/${name}/connections`);
      const output = context.output();
      output.result(found, () => {
        output.table(
          ['ID', 'INSTANCE', 'STATUS', 'CALLS', 'CONNECTED', 'SDK'],
          found.map((one) => [one.id, one.instance_id, one.status, one.calls, one.connected_at, one.sdk]),
          'No connections.',
        );
      });
    });
  apps
    .command('disconnect')
    .description('Ends a connection: it gets no more calls. Its instance connects again, if its signing key is valid.')
    .argument('<name>')
    .argument('<id>', 'of the connection')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, id: string, { yes }: { yes?: boolean }) => {
      await confirm(context, `End the connection ${id} of ${name}?`, yes);
      await context.api().delete(at`/v1/apps/${name}/connections/${id}`);
      const output = context.output();
      output.result(null, () => output.line(`Ended ${id}.`));
    });
}

function printApp(output: Output, app: Json): void {
  output.fields({
    name: app.name,
    URL: app.url,
    SDK: app.sdk,
    framework: app.framework,
    registered: app.registered_at,
    'last attempt': app.last_sync.succeeded ? undefined : `${app.last_sync.at}: ${app.last_sync.error}`,
    throttled: app.slowed,
    'allowed origins': app.allowed_origins?.join('\n'),
    held: app.held_registrations ? `${app.held_registrations} registrations: tidegate apps held` : undefined,
    'not moved': app.declined_url ? `if it is at ${app.declined_url}: tidegate apps sync <this URL>` : undefined,
    'not registered': app.refused_functions.map(({ id, problem }: Json) => `${id}: ${problem}`).join('\n'),
  });
  output.line();
  printFunctions(output, app.functions);
}

export function printFunctions(output: Output, functions: Json[]): void {
  const rows = functions.map((fn) => [fn.id, triggersOf(fn), stateOf(fn), fn.problems.join('; ')]);
  output.table(['FUNCTION', 'TRIGGERS', 'STATE', 'PROBLEMS'], rows, 'No functions.');
}

function triggersOf({ triggers = [] }: Json): string {
  return triggers
    .map(({ event, cron, expression }: Json) => (expression ? `${event} if …` : (event ?? cron)))
    .join(', ');
}

function stateOf({ archived, paused_at, queued_runs }: Json): string {
  if (archived) return 'archived';
  return paused_at ? `paused${queued_runs === 'hold' ? ', holds runs' : ''}` : '';
}

export function printRegistration(output: Output, { url, functions }: Json): void {
  output.line(
    `Registered ${printable(url)}: ${functions.length} ${functions.length === 1 ? 'function' : 'functions'}.`,
  );
  for (const { id, problems } of functions as { id: string; problems: string[] }[]) {
    for (const problem of problems) output.line(printable(`${id}: ${problem}`));
  }
}

function printCheck(output: Output, { ok, answered_in_ms, problems }: Json): void {
  output.line(
    ok ? `The app is well${answered_in_ms === null ? '' : `: it answered in ${answered_in_ms} ms`}.` : 'Problems:',
  );
  for (const { message, fix } of problems) output.line(printable(`- ${message}\n  ${fix}`));
}
