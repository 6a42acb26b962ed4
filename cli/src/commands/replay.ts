/** `tidegate replay`: functions on past events, or the logged requests of a webhook, once more. */
import { type Command, Option } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { at, type ListOptions, withLimit } from '../list-options.ts';
import { registerEventReplay } from '../replay-events.ts';
import { registerRequestReplay } from '../replay-requests.ts';

export function register(program: Command, context: Context): void {
  const replay = program
    .command('replay')
    .summary('run functions again on past events; process webhook requests again')
    .description(
      'Runs functions again on past events, or processes logged requests of a webhook again. Counts first, then asks.',
    );
  registerEventReplay(replay, context);
  registerRequestReplay(replay, context);
  registerReads(replay, context);
  registerChanges(replay, context);
}

function registerReads(replay: Command, context: Context): void {
  withLimit(replay.command('list').alias('ls').description('Lists replays of events, newest first.')).action(
    async ({ limit }: ListOptions) => {
      const found = await context.api().list('/v1/replays', {}, limit);
      const output = context.output();
      const rows = found.map((one) => [
        one.id,
        one.status,
        one.created_at,
        one.progress.started,
        one.runs.failed,
        one.name,
      ]);
      output.result(found, () =>
        output.table(['ID', 'STATUS', 'CREATED', 'STARTED', 'FAILED', 'NAME'], rows, 'No replays.'),
      );
    },
  );
  replay
    .command('get')
    .description('Shows a replay with its progress, and how its runs ended.')
    .argument('<id>')
    .action(async (id: string) => {
      const { data } = await context.api().get(at`/v1/replays/${id}`);
      const output = context.output();
      output.result(data, () => output.fields({ ...data, progress: data.progress, runs: data.runs }));
    });
  withLimit(replay.command('results').description('Lists the results of a replay: the run, or why there is none.'))
    .argument('<id>')
    .addOption(new Option('--outcome <outcome>', 'these alone').choices(['started', 'skipped', 'failed']))
    .action(async (id: string, { limit, outcome }: ListOptions & { outcome?: string }) => {
      const found = await context.api().list(at`/v1/replays/${id}/results`, { outcome }, limit);
      const output = context.output();
      const rows = found.map((one: Json) => [
        one.event_id,
        one.function_id,
        one.outcome,
        one.reason,
        one.run_id,
        output.status(one.run_status),
      ]);
      const headings = ['EVENT', 'FUNCTION', 'OUTCOME', 'REASON', 'RUN', 'STATUS'];
      output.result(found, () => output.table(headings, rows, 'No results.'));
    });
}

function registerChanges(replay: Command, context: Context): void {
  const change = async (id: string, action: string, body?: object) => {
    const { data } = await context.api().post(`${at`/v1/replays/${id}`}/${action}`, body);
    const output = context.output();
    output.result(data, () => output.line(`${data.id}  ${data.status}`));
  };
  for (const [action, description] of [
    ['pause', 'Pauses a replay: it starts no runs until it is resumed.'],
    ['resume', 'Resumes a paused replay.'],
  ] as const) {
    replay
      .command(action)
      .description(description)
      .argument('<id>')
      .action((id: string) => change(id, action));
  }
  replay
    .command('cancel')
    .description('Cancels a replay: it starts no more runs.')
    .argument('<id>')
    .option('--runs', 'cancel the runs that it started, too')
    .action((id: string, { runs = false }: { runs?: boolean }) => change(id, 'cancel', { cancel_runs: runs }));
}
