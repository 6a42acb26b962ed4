/** `tidegate lanes`: the lanes of functions with an order, and those that failed runs stop. */
import { type Command, Option } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { at } from '../list-options.ts';

const ACTIONS = [
  [
    'retry',
    'Runs the failed event of a stopped lane again; if that completes, the lane goes on.',
    'Runs its event again.',
  ],
  ['skip', 'Lets a stopped lane go on with its next event.', 'It goes on.'],
] as const;

export function register(program: Command, context: Context): void {
  const lanes = program
    .command('lanes')
    .summary('list the lanes of a function, and let stopped ones go on')
    .description('The events of a key of a function with an order, which run one after another.');
  lanes
    .command('list')
    .alias('ls')
    .description('Lists the lanes of a function that are not idle.')
    .argument('<function>', 'with the name of the app in front: shop-send-receipt')
    .addOption(new Option('--stopped', 'only those that failed runs stop'))
    .action(async (id: string, { stopped }: { stopped?: boolean }) => {
      const query = { stopped: stopped ? 'true' : undefined };
      const found = await context.api().all(at`/v1/functions/${id}/lanes`, query);
      const output = context.output();
      output.result(found, () => {
        const rows = found.map((lane) => [lane.id, lane.key, lane.state, lane.waiting, lane.run_id, lane.next_at]);
        output.table(['LANE', 'KEY', 'STATE', 'WAITING', 'RUN', 'NEXT'], rows, 'No lanes.');
      });
    });
  lanes
    .command('get')
    .description('Shows a lane with the events that wait in it.')
    .argument('<function>')
    .argument('<lane>', 'its ID')
    .action(async (id: string, lane: string) => {
      const { data } = await context.api().get(at`/v1/functions/${id}/lanes/${lane}`);
      const output = context.output();
      output.result(data, () => {
        output.fields({ lane: data.id, key: data.key, state: data.state, since: data.since, run: data.run_id });
        output.fields({ event: data.event_id, 'next at': data.next_at });
        output.table(
          ['WAITING EVENT', 'FUNCTION'],
          data.events.map((event: Json) => [event.event_id, event.function_id]),
          'No event waits.',
        );
      });
    });
  for (const [name, description, done] of ACTIONS) {
    lanes
      .command(name)
      .description(description)
      .argument('<function>')
      .argument('<lane>', 'its ID')
      .action(async (id: string, lane: string) => {
        const { data } = await context.api().post(`${at`/v1/functions/${id}/lanes/${lane}`}/${name}`, {});
        const output = context.output();
        output.result(data, () => output.line(done));
      });
  }
}
