/** schemathesis (PyPI): generates requests from an OpenAPI document and validates the responses. */
import { join, resolve } from 'node:path';
import { type ProgramResult, run as runProgram } from './program.ts';
import { installPython } from './python.ts';

const REQUIREMENTS = resolve(import.meta.dirname, '../python/schemathesis.txt');

/** @returns the program's path. @throws like `installPython` */
export async function installSchemathesis(): Promise<string> {
  return join(await installPython('schemathesis', REQUIREMENTS), 'st');
}

/** @param cwd receives its files */
export function run(program: string, args: string[], cwd: string): Promise<ProgramResult> {
  return runProgram(program, args, { cwd });
}
