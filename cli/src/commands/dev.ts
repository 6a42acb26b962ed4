/** `tidegate dev` and `tidegate start`: run the service itself. `tidegate dev clock` moves the clock of a running service. */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import { findServiceProgram, runService } from '../service-program.ts';

export function register(program: Command, context: Context): void {
  addClock(add('dev', 'run the whole service on this machine, for development', '[options...]'), context);
  add('start', 'run a process of a deployment: web, worker, release or move', '<process>');

  function add(name: string, summary: string, argument: string): Command {
    return (
      program
        .command(name)
        .summary(summary)
        .description(summary)
        .usage(argument)
        // Its options, and --help, are those of the service.
        .allowUnknownOption()
        .allowExcessArguments()
        .helpOption(false)
        .action(async () => {
          const args = context.args.slice(context.args.indexOf(name) + 1);
          context.exitCode = await runService(findServiceProgram(name, args, process.cwd()), context.stdin);
        })
    );
  }
}

function addClock(dev: Command, context: Context): void {
  const clock = dev
    .command('clock')
    .summary('show or move the clock of a service in dev mode')
    .description(
      'The time of a service in dev mode. When it is moved, everything that is due until then happens in its order: sleeps, timeouts, schedules.',
    )
    .helpOption('-h, --help');
  clock
    .command('show', { isDefault: true })
    .description('Shows its time.')
    .helpOption('-h, --help')
    .action(async () => {
      const { data } = await context.api().get('/v1/dev/clock');
      const output = context.output();
      output.result(data, () => output.line(data.now));
    });
  clock
    .command('advance')
    .description('Lets time pass.')
    .helpOption('-h, --help')
    .argument('<duration>', 'such as 90s, 1h30m or 3d')
    .action((advance: string) => move({ advance }));
  clock
    .command('to')
    .description('Lets time pass until a time.')
    .helpOption('-h, --help')
    .argument('<time>', 'such as 2027-01-31T09:00:00Z')
    .action((to: string) => move({ to }));

  async function move(body: { advance: string } | { to: string }): Promise<void> {
    const { data } = await context.api().post('/v1/dev/clock', body);
    const output = context.output();
    output.result(data, () => printMove(output, data));
  }
}

function printMove(output: Output, { now, reached, runs_started, runs_ended, waiting }: Json): void {
  output.line(`It is ${now}: ${runs_started} runs started, ${runs_ended} ended, ${waiting} wait.`);
  if (reached === 'limit') output.note('More happens until then than one command waits for: run it again with "to".');
  if (reached === 'busy') output.note('It stopped there because something does not end, such as a call.');
}
