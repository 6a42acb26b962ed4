/** schemathesis (PyPI): makes requests of an OpenAPI document and checks the answers against it. */
import { join, resolve } from 'node:path';
import { type Finding, run as runProgram } from './program.ts';
import { installPython } from './python.ts';

const REQUIREMENTS = resolve(import.meta.dirname, '../python/schemathesis.txt');

/** @returns the program's path. @throws as `installPython` */
export async function installSchemathesis(): Promise<string> {
  return join(await installPython('schemathesis', REQUIREMENTS), 'st');
}

/** @param cwd it leaves things there */
export function run(program: string, args: string[], cwd: string): Promise<Finding> {
  return runProgram(program, args, { cwd });
}
