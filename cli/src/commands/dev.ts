/** `tidegate dev` and `tidegate start`: run the service itself. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { findServiceProgram, runService } from '../service-program.ts';

export function register(program: Command, context: Context): void {
  add('dev', 'run the whole service on this machine, for development', '[options...]');
  add('start', 'run a process of a deployment: web, worker, release or move', '<process>');

  function add(name: string, summary: string, argument: string): void {
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
      });
  }
}
