/** `tidegate alerts`: what is wrong, and whether people hear of it. */
import { type Command, Option } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { CliError } from '../exit-codes.ts';
import { at } from '../list-options.ts';
import { addList } from '../resource.ts';

export function register(program: Command, context: Context): void {
  const alerts = program
    .command('alerts')
    .summary('list alerts and their rules, and test the channels that hear of them')
    .description('What is wrong in an environment, from when on people hear of it, and where.');
  addList<{ past?: boolean }>(alerts, context, {
    description: 'Lists open alerts.',
    path: '/v1/alerts',
    query: ({ past }) => ({ state: past ? 'resolved' : 'open' }),
    headings: ['RULE', 'ABOUT', 'SINCE', 'UNTIL', 'DETAIL'],
    row: (one) => [one.rule, one.subject_name, one.since, one.resolved_at, one.detail],
  }).addOption(new Option('--past', 'those of the last 30 days that are resolved'));
  addList(alerts, context, {
    name: 'rules',
    description: 'Lists the rules with what is changed in the environment.',
    path: '/v1/alert-rules',
    headings: ['RULE', 'ON', 'THRESHOLD', 'WINDOW', 'CHANNELS'],
    row: (one) => [one.rule, one.on ? 'yes' : 'no', `${one.threshold} ${one.unit}`, windowOf(one), channelsOf(one)],
  });
  addList(alerts, context, {
    name: 'channels',
    description: 'Lists the channels that hear of alerts.',
    path: '/v1/alert-channels',
    headings: ['NAME', 'KIND', 'ADDRESS', 'PROBLEM'],
    row: (one) => [one.name, one.kind, one.address, one.problem],
  });
  alerts
    .command('test')
    .description('Sends a test to a channel, and prints what its server answered.')
    .argument('<channel>', 'its name')
    .action(async (name: string) => {
      const { data } = await context.api().post(at`/v1/alert-channels/${name}/test`, {});
      const answer = [data.status, data.answer].filter((part) => part !== null && part !== '').join(': ');
      if (!data.accepted) throw new CliError(`${name} did not accept the test: ${answer}`);
      const output = context.output();
      output.result(data, () => output.line(answer === '' ? 'Accepted.' : `Accepted: ${answer}`));
    });
}

function windowOf({ window, window_seconds }: Json): string {
  return window_seconds === 0 ? '' : `${window} ${window_seconds} s`;
}

function channelsOf({ channels }: Json): string {
  return channels?.join(', ') ?? 'all';
}
