/** `tidegate events`: reads stored events. */
import type { Command } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { at, type ListOptions, type TimeOptions, withLimit, withTimes } from '../list-options.ts';
import type { Output } from '../output.ts';
import { SourceNames } from '../source-names.ts';

interface Filters {
  name?: string;
  source?: string;
  id?: string;
  search?: string;
}

export function register(program: Command, context: Context): void {
  const events = program.command('events').summary('list, read and repeat events').description('Reads stored events.');
  withLimit(withTimes(events.command('list').alias('ls').description('Lists events, newest first.'), 'received'))
    .option('--name <name>', 'the name, or the beginning of several: order/*')
    .option('--source <source>', 'such as webhook:<id>, or webhook for all webhooks')
    .option('--id <id>', 'internal ID or deduplication ID')
    .option('--search <condition>', "a text, or a condition such as 'data.total > 100'")
    .action(async ({ limit, since, until, ...filters }: Filters & TimeOptions & ListOptions) => {
      const query = { ...filters, received_after: since, received_before: until, include: 'runs' };
      const found = await context.api().list('/v1/events', query, limit);
      const output = context.output();
      const shown = output.json ? found : await withSourceNames(context.api(), found);
      output.result(found, () => printEvents(output, shown));
    });
  events
    .command('get')
    .description('Shows an event and the runs that it triggered.')
    .argument('<id>', 'internal ID')
    .action(async (id: string) => {
      const api = context.api();
      const path = at`/v1/events/${id}`;
      const { data: event } = await api.get(path);
      const runs = await api.all(`${path}/runs`);
      const output = context.output();
      const [shown] = output.json ? [event] : await withSourceNames(api, [event]);
      output.result({ ...event, runs }, () => printEvent(output, shown, runs));
    });
  events
    .command('send-again')
    .description('Sends events again: new events with the same name and data, which trigger their functions.')
    .argument('<ids...>', 'internal IDs')
    .action(async (ids: string[]) => {
      const output = context.output();
      for (const id of ids) {
        const { data } = await context.api().post(at`/v1/events/${id}/send-again`);
        output.item(data, () => output.line(data.internal_id));
      }
    });
}

/** Users know the names of keys, not their IDs. */
async function withSourceNames(api: ApiClient, events: readonly Json[]): Promise<Json[]> {
  const sources = new SourceNames(api);
  const named: Json[] = [];
  for (const event of events) named.push({ ...event, source: await sources.of(event.source) });
  return named;
}

function printEvents(output: Output, events: Json[]): void {
  const rows = events.map((event) => [
    event.internal_id,
    event.name,
    event.received_at,
    event.source,
    event.runs.map(({ status }: Json) => status).join(', '),
  ]);
  output.table(['ID', 'NAME', 'RECEIVED', 'SOURCE', 'RUNS'], rows, 'No events.');
}

function printEvent(output: Output, event: Json, runs: Json[]): void {
  output.fields({
    ID: event.internal_id,
    'deduplication ID': event.id === event.internal_id ? undefined : event.id,
    name: event.name,
    received: event.received_at,
    time: new Date(event.ts).toISOString(),
    source: event.source,
    duplicates: event.duplicates || undefined,
    user: event.user,
    data: event.data,
  });
  output.line();
  const rows = runs.map((run) => [run.run_id, run.function_id, output.status(run.status), run.ended_at]);
  output.table(['RUN', 'FUNCTION', 'STATUS', 'ENDED'], rows, 'No runs.');
}
