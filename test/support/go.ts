/** Builds Go programs into .data. */
import { join, resolve } from 'node:path';
import { type HostProgram, must, startHost } from './program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DATA = join(ROOT, '.data');
const HOSTS = join(ROOT, 'test/go/together');

/** Go's build cache makes repeated builds fast.
 *  @param source a package, such as `./official`, from the module in `cwd`. @returns the program's path.
 *  @throws with the compiler's output, or if Go is missing */
export async function buildGo(name: string, source: string, cwd: string): Promise<string> {
  const program = join(DATA, 'go', name);
  await go(['build', '-o', program, source], cwd);
  return program;
}

/** Builds and starts a program of test/go/together that hosts an app of our client. */
export async function startGoHost(name: string, source: string, env: Record<string, string>): Promise<HostProgram> {
  return startHost(await buildGo(name, source, HOSTS), [], { cwd: HOSTS, env });
}

/** Runs the go command. @returns its output */
export async function go(args: string[], cwd: string): Promise<string> {
  return must('go', args, { cwd }).catch((cause: Error) => {
    if (!cause.message.includes('ENOENT')) throw cause;
    throw new Error('These tests need Go (https://go.dev/dl)', { cause });
  });
}
