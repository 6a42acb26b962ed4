/** `tidegate invoke`: runs one function. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { duration, readJsonText } from '../input.ts';
import { at } from '../list-options.ts';
import { endWith } from '../runs.ts';
import { watchRun } from '../watch-run.ts';

interface Options {
  data?: string;
  user?: string;
  wait?: boolean;
  timeout?: number;
}

const HELP = `
Examples:
  tidegate invoke shop send-receipt --data '{"orderId": "A1"}' --wait
  tidegate invoke shop-send-receipt`;

export function register(program: Command, context: Context): void {
  program
    .command('invoke')
    .summary('run one function')
    .description('Runs one function on data of your own, whatever its triggers; also a paused one.')
    .argument('<app>', 'name of the app; or the whole ID of the function, as in lists of runs')
    .argument('[function]', 'ID of the function in its app')
    .option('-d, --data <json>', 'the data of its event: JSON, @file, or - for stdin')
    .option('--user <json>', 'the user of its event')
    .option('-w, --wait', 'wait for the end of the run, and print its output; exit with 1 unless it completes')
    .option('--timeout <duration>', 'with --wait: give up after 90s, 15m, 2h, … and exit with 6', duration)
    .addHelpText('after', HELP)
    .action(async (app: string, functionId: string | undefined, options: Options) => {
      const { data, user, wait, timeout } = options;
      const fields = [
        ...(data === undefined ? [] : [`"data":${await readJsonText(data, '--data', context.stdin)}`]),
        ...(user === undefined ? [] : [`"user":${await readJsonText(user, '--user', context.stdin)}`]),
      ];
      const api = context.api();
      const id = functionId === undefined ? app : `${app}-${functionId}`;
      const { data: invoked } = await api.post(at`/v1/functions/${id}/invoke`, `{${fields.join(',')}}`);
      const output = context.output();
      if (!wait) return output.result(invoked, () => output.line(invoked.run_id));
      const run = await watchRun(api, invoked.run_id, { output, timeoutMs: timeout, signal: context.signal });
      endWith(run, output);
    });
}
