/** Input of commands: JSON, texts and secrets from arguments, files and stdin. */
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import type { Stdin } from './context.ts';
import { CliError, EXIT, usageError } from './exit-codes.ts';

/** The text of an argument: `@file`, `-` for stdin, or the argument itself. @throws CliError */
export async function readText(argument: string, stdin: Stdin): Promise<string> {
  if (argument === '-') return readAll(stdin);
  return argument.startsWith('@') ? readFileOf(argument.slice(1)) : argument;
}

/** The same, as JSON in the digits that it was written with. @throws CliError */
export async function readJsonText(argument: string, what: string, stdin: Stdin): Promise<string> {
  const text = (await readText(argument, stdin)).replace(/^\ufeff/, '');
  try {
    JSON.parse(text);
  } catch (error) {
    throw usageError(`${what} is not JSON: ${(error as Error).message}`, 'Give JSON, @file, or - for stdin');
  }
  return text.trim();
}

export async function readFileOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as Error).message}`, { exitCode: EXIT.usage });
  }
}

/** A secret, which does not belong on a command line that others can list: from stdin. */
export async function readSecret(what: string, stdin: Stdin): Promise<string> {
  if (stdin.isTTY) throw usageError(`Pipe ${what} into stdin`, 'For example: … < secret.txt');
  const secret = (await readAll(stdin)).replace(/\r?\n$/, '');
  if (secret === '') throw usageError(`stdin is empty; expected ${what}`);
  return secret;
}

async function readAll(stdin: Stdin): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** Parser of an option that takes a whole number. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(
      `Expected a whole number from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}.`,
    );
  };
}

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parser of an option that takes a duration such as 90s, 15m, 2h or 7d. @returns milliseconds */
export function duration(text: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('Expected a duration such as 90s, 15m, 2h or 7d.');
  return Number(count) * (UNITS_MS[unit] as number);
}

/** Parser of an option that takes a time: ISO 8601, a time of today, or how long ago. @returns ISO 8601 */
export function pointInTime(text: string): string {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hours !== undefined && Number(hours) < 24 && Number(minutes) < 60) {
    const today = new Date();
    today.setHours(Number(hours), Number(minutes), 0, 0);
    return today.toISOString();
  }
  if (/^\d+[smhd]$/.test(text)) return new Date(Date.now() - duration(text)).toISOString();
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError(
      'Expected a time such as 2026-11-23T08:00:00Z or 09:00, or how long ago: 15m, 2h, 7d.',
    );
  }
  return new Date(time).toISOString();
}
