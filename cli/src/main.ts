#!/usr/bin/env node
/** The command line of Tidegate: docs/cli.md. */
import { EXIT } from './exit-codes.ts';
import { runProgram } from './program.ts';
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
// The reader of the pipe, such as head, has ended.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}
const { env: variables, stdin, stdout, stderr } = process;
process.exitCode = await runProgram({ args, variables, stdin, stdout, stderr, signal: interruption.signal });
