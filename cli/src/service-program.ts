/** The program of the service: of the tree in which this file is, or of the package tidegate-service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stdin } from './context.ts';
import { CliError, EXIT } from './exit-codes.ts';

const PACKAGE = 'tidegate-service';
/** Commands that run the service, and give it their options. */
const COMMANDS = ['dev', 'start'];

export interface ServiceProgram {
  file: string;
  args: string[];
}

/** Ctrl-C reaches the service too, which ends in order; this process waits for it. */
export function isSupervising(args: readonly string[]): boolean {
  const [command = '', subcommand] = args.filter((arg) => !arg.startsWith('-'));
  return COMMANDS.includes(command) && subcommand !== 'clock';
}

/** @param cwd folder whose node_modules may have the package
 *  @throws CliError that says how to get the service */
export function findServiceProgram(command: string, args: string[], cwd: string): ServiceProgram {
  const here = fileURLToPath(import.meta.url);
  const tree = join(dirname(here), '../..');
  if (isTree(tree)) return { file: join(tree, 'scripts', command), args };
  const installed = findInstalled(join(cwd, 'package.json')) ?? findInstalled(here);
  if (installed) return { file: installed, args: command === 'dev' ? ['dev', ...args] : args };
  throw new CliError(`The service is not installed here: there is no package ${PACKAGE}`, {
    exitCode: EXIT.usage,
    hint: `Install ${PACKAGE} of the same release with npm, or start scripts/${command} in a clone of the repository`,
  });
}

/** Runs it to its end, on the same terminal. @returns its exit code */
export async function runService({ file, args }: ServiceProgram, stdin: Stdin): Promise<number> {
  const child = spawn(file, args, { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  // A terminal sends it to both.
  if (!stdin.isTTY) process.on('SIGINT', () => child.kill('SIGINT'));
  const [code, signal] = (await once(child, 'close').catch((error: Error) => {
    throw new CliError(`Cannot start ${file}: ${error.message}`);
  })) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

function isTree(folder: string): boolean {
  const manifest = join(folder, 'package.json');
  return existsSync(join(folder, 'scripts/dev')) && existsSync(manifest) && nameIn(manifest) === PACKAGE;
}

function nameIn(manifest: string): string {
  return JSON.parse(readFileSync(manifest, 'utf8')).name;
}

/** @param from the file that would import it */
function findInstalled(from: string): string | undefined {
  try {
    const manifest = createRequire(from).resolve(`${PACKAGE}/package.json`);
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin?: string | Record<string, string> };
    const program = typeof bin === 'string' ? bin : bin?.[PACKAGE];
    return program && join(dirname(manifest), program);
  } catch {
    return undefined;
  }
}
