/** `tidegate environments`: production, named environments and branches. */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { wholeNumber } from '../input.ts';
import { at } from '../list-options.ts';
import type { Output } from '../output.ts';
import { addAction, addList } from '../resource.ts';

export function register(program: Command, context: Context): void {
  const environments = program
    .command('environments')
    .alias('envs')
    .summary('list, create, limit, archive and delete environments')
    .description('The environments of the installation.');
  addList(environments, context, {
    description: 'Lists environments.',
    path: '/v1/environments',
    headings: ['NAME', 'KIND', 'CREATED', 'STATE'],
    row: (one) => [one.name, one.kind, one.created_at, stateOf(one)],
  });
  environments
    .command('get')
    .description('Shows an environment with its limits.')
    .argument('<name>')
    .action(async (name: string) => {
      const { data } = await context.api().get(at`/v1/environments/${name}`);
      print(context.output(), data);
    });
  environments
    .command('create')
    .description('Creates an environment.')
    .argument('<name>')
    .option('--branch', 'a branch environment, which can be deleted')
    .action(async (name: string, { branch }: { branch?: boolean }) => {
      const { data } = await context.api().post('/v1/environments', { name, kind: branch ? 'branch' : 'named' });
      print(context.output(), data);
    });
  environments
    .command('limit')
    .description('Changes the limits of an environment; "none" removes one.')
    .argument('<name>')
    .option('--event-max-bytes <bytes>', 'largest request body', orNone(wholeNumber(1)))
    .option(
      '--retention-days <days>',
      'how long events and ended runs are kept (needs an archive)',
      orNone(wholeNumber(1)),
    )
    .action(async (name: string, options: { eventMaxBytes?: number | null; retentionDays?: number | null }) => {
      const body = { event_max_bytes: options.eventMaxBytes, retention_days: options.retentionDays };
      const { data } = await context.api().patch(at`/v1/environments/${name}/limits`, body);
      print(context.output(), data);
    });
  for (const action of ['archive', 'unarchive'] as const) {
    addAction(environments, context, {
      name: action,
      description:
        action === 'archive' ? 'Archives an environment: it rejects new events.' : 'Unarchives an environment.',
      argument: 'name',
      path: (name) => at`/v1/environments/${name}/` + action,
      done: (name) => `${action === 'archive' ? 'Archived' : 'Unarchived'} ${name}.`,
    });
  }
  addAction(environments, context, {
    name: 'delete',
    description: 'Deletes a branch environment with all its data. This cannot be undone.',
    argument: 'name',
    method: 'DELETE',
    path: (name) => at`/v1/environments/${name}`,
    question: (name) => `Delete the environment ${name} with all its events, runs, apps and functions?`,
    done: (name) => `Deleting ${name}. It disappears when all its data is deleted.`,
  });
}

function print(output: Output, one: Json): void {
  output.result(one, () => {
    output.fields({
      name: one.name,
      kind: one.kind,
      created: one.created_at,
      state: stateOf(one),
      'event max bytes': one.event_max_bytes,
      'retention days': one.retention_days,
    });
  });
}

function stateOf({ archived_at, deleting_at }: Json): string {
  if (deleting_at) return 'being deleted';
  return archived_at ? `archived ${archived_at}` : '';
}

function orNone(parse: (text: string) => number): (text: string) => number | null {
  return (text) => (text === 'none' ? null : parse(text));
}
