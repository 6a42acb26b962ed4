/** Go programs, built into .data. */
import { join, resolve } from 'node:path';
import { must } from './program.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

/** Go's own cache makes it quick when nothing has changed.
 *  @param source a package, such as `./official`, from the module in `cwd`. @returns the program's path.
 *  @throws with what the compiler says, or when there is no Go */
export async function buildGo(name: string, source: string, cwd: string): Promise<string> {
  const program = join(DATA, 'go', name);
  await go(['build', '-o', program, source], cwd);
  return program;
}

/** Runs the go command. @returns what it wrote */
export async function go(args: string[], cwd: string): Promise<string> {
  return must('go', args, { cwd }).catch((cause: Error) => {
    if (!cause.message.includes('ENOENT')) throw cause;
    throw new Error('These tests need Go (https://go.dev/dl)', { cause });
  });
}
