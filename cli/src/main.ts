#!/usr/bin/env node
/** The command line of Tidegate: docs/cli.md. */
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { COMMANDS } from './commands.ts';
import { Context } from './context.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { printable } from './output.ts';
import { isSupervising } from './service-program.ts';

/** A command that Ctrl-C does not end within this time is left where it is. */
const GRACE_MS = 2_000;

const args = process.argv.slice(2);
const interruption = new AbortController();
process.on('SIGINT', () => {
  if (interruption.signal.aborted && !isSupervising(args)) process.exit(EXIT.interrupted);
  interruption.abort();
  if (!isSupervising(args)) setTimeout(() => process.exit(EXIT.interrupted), GRACE_MS).unref();
});
// The reader of the pipe has seen enough, such as head.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}
process.exitCode = await run(args);

async function run(args: readonly string[]): Promise<number> {
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
    .exitOverride();
  const { stdin, stdout, stderr } = process;
  const context = new Context(program, {
    args,
    variables: process.env,
    stdin,
    stdout,
    stderr,
    signal: interruption.signal,
  });
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
  if (interruption.signal.aborted) return EXIT.interrupted;
  // Commander has printed its own.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const output = context.output();
  const { message, hint, exitCode = EXIT.failed } = error instanceof CliError ? error : unexpected(error);
  process.stderr.write(`${output.paint('red', 'Error:')} ${printable(message)}\n`);
  if (hint) process.stderr.write(`${printable(hint)}\n`);
  return exitCode;
}

function unexpected(error: unknown): { message: string; hint?: string; exitCode?: number } {
  const { message, stack } = error as Error;
  return process.env.DEBUG ? { message: stack ?? message } : { message, hint: 'Set DEBUG=1 to see where it happened' };
}
