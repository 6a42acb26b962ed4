/** Asks before something is deleted, or done to many. */
import { createInterface } from 'node:readline/promises';
import type { Context } from './context.ts';
import { CliError, usageError } from './exit-codes.ts';
import { printable } from './output.ts';

/** @throws CliError unless the person says yes, or if there is no terminal and `yes` is not given */
export async function confirm(context: Context, question: string, yes = false): Promise<void> {
  if (yes) return;
  if (!context.stdin.isTTY) throw usageError(`${question} Add --yes to say so`);
  const lines = createInterface({ input: context.stdin, output: context.stderr });
  try {
    const answer = await lines.question(`${printable(question)} [y/N] `, { signal: context.signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed');
  } finally {
    lines.close();
  }
}
