/** `tidegate destinations`: URLs that get events or webhook requests. */
import { type Command, Option } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { idOfWebhook } from '../find-webhook.ts';
import { readJsonText, wholeNumber } from '../input.ts';
import { at } from '../list-options.ts';
import type { Output } from '../output.ts';
import { addAction, addList } from '../resource.ts';

interface DestinationOptions {
  to?: string;
  event?: string[];
  webhook?: string;
  filter?: string;
  body?: string;
  headers?: string;
  forwardHeader?: string[];
  timeout?: number;
  retries?: number;
  flow?: string;
}

export function register(program: Command, context: Context): void {
  const destinations = program
    .command('destinations')
    .summary('list, create, change, test, pause and delete destinations')
    .description('URLs that get events or the requests of a webhook, without an app.');
  addList(destinations, context, {
    description: 'Lists destinations.',
    path: '/v1/destinations',
    headings: ['NAME', 'GETS', 'URL', 'STATE'],
    row: (one) => [one.name, one.webhook ? `webhook ${one.webhook}` : one.events.join(', '), one.url, stateOf(one)],
  });
  destinations
    .command('get')
    .description('Shows a destination.')
    .argument('<name>')
    .action(async (name: string) => {
      const { data } = await context.api().get(at`/v1/destinations/${name}`);
      print(context.output(), data);
    });
  withOptions(destinations.command('create'))
    .description(
      'Creates a destination in the environment of --env, and prints the secret that signs its requests, once.',
    )
    .argument('<name>')
    .action(async (name: string, options: DestinationOptions) => {
      const api = context.api();
      const { data } = await api.post('/v1/destinations', { name, ...(await bodyOf(api, options, context)) });
      printSecret(context.output(), data);
    });
  withOptions(destinations.command('update'))
    .description('Changes a destination. What is not given stays as it is.')
    .argument('<name>')
    .action(async (name: string, options: DestinationOptions) => {
      const api = context.api();
      const { data } = await api.patch(at`/v1/destinations/${name}`, await bodyOf(api, options, context));
      print(context.output(), data);
    });
  registerActions(destinations, context);
}

function registerActions(destinations: Command, context: Context): void {
  destinations
    .command('test')
    .description('Sends a test to a destination: one run, whatever its filter.')
    .argument('<name>')
    .option('--data <json>', 'JSON, @file, or - for stdin', '{}')
    .action(async (name: string, { data: given }: { data: string }) => {
      const body = { data: JSON.parse(await readJsonText(given, '--data', context.stdin)) };
      const { data } = await context.api().post(at`/v1/destinations/${name}/test`, body);
      const output = context.output();
      output.result(data, () => output.line(data.run_id));
    });
  destinations
    .command('pause')
    .description('Pauses a destination: events start no runs, also not later.')
    .argument('<name>')
    .addOption(
      new Option('--queued-runs <what>', 'runs that have not started: start as usual, wait, or are cancelled').choices([
        'run',
        'hold',
        'cancel',
      ]),
    )
    .action(async (name: string, { queuedRuns }: { queuedRuns?: string }) => {
      const body = queuedRuns === undefined ? {} : { queued_runs: queuedRuns };
      const { data } = await context.api().post(at`/v1/destinations/${name}/pause`, body);
      const output = context.output();
      output.result(data, () => output.line(`Paused ${name}.`));
    });
  addAction(destinations, context, {
    name: 'resume',
    description: 'Resumes a paused destination.',
    argument: 'name',
    path: (name) => at`/v1/destinations/${name}/resume`,
    done: (name) => `Resumed ${name}.`,
  });
  destinations
    .command('rotate')
    .description('Gives a destination another secret, and prints it once. The former one signs too for a day.')
    .argument('<name>')
    .action(async (name: string) => {
      const { data } = await context.api().post(at`/v1/destinations/${name}/rotate-secret`, {});
      printSecret(context.output(), data);
    });
  addAction(destinations, context, {
    name: 'delete',
    description: 'Deletes a destination. Its active runs finish.',
    argument: 'name',
    method: 'DELETE',
    path: (name) => at`/v1/destinations/${name}`,
    question: (name) => `Delete the destination ${name}, so that nothing more is sent there?`,
    done: (name) => `Deleted ${name}.`,
  });
}

function withOptions(command: Command): Command {
  return command
    .option('--to <url>', 'to which events are POSTed')
    .option('--event <names...>', 'names of events, with an optional trailing /* or .*')
    .option('--webhook <webhook>', 'its ID or name: all events of its requests, instead of --event')
    .option('--filter <cel>', 'over event; "none" removes it')
    .addOption(
      new Option('--body <what>', 'the event as JSON, its data alone, or the original request').choices([
        'event',
        'data',
        'request',
      ]),
    )
    .option('--headers <json>', 'that each request gets: @file or - keep secrets out of the list of processes')
    .option('--forward-header <names...>', 'headers of the original request that are sent along')
    .option('--timeout <seconds>', 'of a request', wholeNumber(1, 300))
    .option('--retries <count>', 'attempts after the first', wholeNumber(0, 20))
    .option('--flow <json>', 'flow control, such as {"throttle": {"limit": 10, "period": "1s"}}');
}

/** The fields that the options set. @throws CliError */
async function bodyOf(
  api: ApiClient,
  { to, event, webhook, filter, body, headers, forwardHeader, timeout, retries, flow }: DestinationOptions,
  { stdin }: Context,
): Promise<Record<string, unknown>> {
  return {
    ...(to !== undefined && { url: to }),
    ...(event && { events: event, webhook: null }),
    ...(webhook !== undefined && { webhook: await idOfWebhook(api, webhook), events: null }),
    ...(filter !== undefined && { filter: filter === 'none' ? null : filter }),
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers: JSON.parse(await readJsonText(headers, '--headers', stdin)) }),
    ...(forwardHeader && { forward_headers: forwardHeader }),
    ...(timeout !== undefined && { timeout_seconds: timeout }),
    ...(retries !== undefined && { retries }),
    ...(flow !== undefined && { flow: JSON.parse(await readJsonText(flow, '--flow', stdin)) }),
  };
}

function printSecret(output: Output, destination: Json): void {
  output.result(destination, () => {
    output.note(
      `The destination ${destination.name}. Its requests are signed with this secret, which is shown only now:`,
    );
    output.line(destination.secret);
  });
}

function print(output: Output, destination: Json): void {
  const { name, url, events, webhook, filter, body, headers, forward_headers, timeout_seconds, retries, flow } =
    destination;
  output.result(destination, () => {
    output.fields({ name, URL: url, events: events?.join(', '), webhook, filter, body });
    output.fields({ headers: headers.join(', '), 'forwarded headers': forward_headers.join(', ') });
    output.fields({
      'timeout in seconds': timeout_seconds,
      retries,
      'flow control': flow,
      state: stateOf(destination),
    });
    output.fields({ function: destination.function_id });
  });
}

function stateOf({ paused_at }: Json): string {
  return paused_at ? `paused ${paused_at}` : '';
}
