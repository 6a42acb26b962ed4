/** The whole command line, with its environment as an argument; `main.ts` runs it as a process. */
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { COMMANDS } from './commands.ts';
import { Context, type ContextOptions } from './context.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { printable } from './output.ts';

/** @returns the exit code */
export async function runProgram(options: ContextOptions): Promise<number> {
  const { args, stdout, stderr } = options;
  const widthOf = ({ isTTY, columns }: ContextOptions['stdout']) => (isTTY ? columns : undefined) as number;
  const program = new Command('tidegate')
    .description('Tidegate from a terminal: send events, follow runs, operate a service.')
    .version(manifest.version)
    .option('--url <url>', 'address of the service (TIDEGATE_URL, SERVICE_BASE_URL; default: http://127.0.0.1:8288)')
    .option('--api-key <key>', 'API key (better: TIDEGATE_API_KEY)')
    .option('--event-key <key>', 'event key, to send events with (better: TIDEGATE_EVENT_KEY)')
    .option('-e, --env <name>', 'environment (TIDEGATE_ENV; default: production, or the one of the key)')
    .option('--json', 'print JSON: one document, or one line for each item of a stream')
    .option('--no-color', 'print without colors')
    .showHelpAfterError('(add --help for what it takes)')
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    })
    .exitOverride();
  const context = new Context(program, options);
  for (const register of COMMANDS) register(program, context);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return context.exitCode;
  } catch (error) {
    return report(error, context);
  }
}

/** Prints the error. @returns the exit code */
function report(error: unknown, context: Context): number {
  if (context.signal.aborted) return EXIT.interrupted;
  // Commander has already printed its own error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const output = context.output();
  const { message, hint, exitCode = EXIT.failed } = error instanceof CliError ? error : unexpected(error, context);
  context.stderr.write(`${output.paint('red', 'Error:')} ${printable(message)}\n`);
  if (hint) context.stderr.write(`${printable(hint)}\n`);
  return exitCode;
}

function unexpected(error: unknown, { variables }: Context): { message: string; hint?: string; exitCode?: number } {
  const { message, stack } = error as Error;
  return variables.DEBUG ? { message: stack ?? message } : { message, hint: 'Set DEBUG=1 to see where it happened' };
}
