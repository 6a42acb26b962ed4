/** Builds Go programs into .data. */
import { join, resolve } from 'node:path';
import { must } from './program.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

/** Go's build cache makes repeated builds fast.
 *  @param source a package, such as `./official`, from the module in `cwd`. @returns the program's path.
 *  @throws with the compiler's output, or if Go is missing */
export async function buildGo(name: string, source: string, cwd: string): Promise<string> {
  const program = join(DATA, 'go', name);
  await go(['build', '-o', program, source], cwd);
  return program;
}

/** Runs the go command. @returns its output */
export async function go(args: string[], cwd: string): Promise<string> {
  return must('go', args, { cwd }).catch((cause: Error) => {
    if (!cause.message.includes('ENOENT')) throw cause;
    throw new Error('These tests need Go (https://go.dev/dl)', { cause });
  });
}
