/** Options and paths that many commands have. */
import type { Command } from 'commander';
import { pointInTime, wholeNumber } from './input.ts';

const DEFAULT_LIMIT = 20;
export const ALL_MAX = 100_000;

export interface ListOptions {
  limit: number;
}

export interface TimeOptions {
  since?: string;
  until?: string;
}

export function withLimit(command: Command): Command {
  return command.option('-n, --limit <count>', 'how many', wholeNumber(1, ALL_MAX), DEFAULT_LIMIT);
}

/** @param what happened then: received, queued */
export function withTimes(command: Command, what: string): Command {
  return command
    .option('--since <time>', `${what} since: ISO 8601, or how long ago: 15m, 2h, 7d`, pointInTime)
    .option('--until <time>', `${what} before`, pointInTime);
}

/** The path with its parameters encoded: at`/v1/runs/${id}`. */
export function at(parts: TemplateStringsArray, ...parameters: string[]): string {
  return parts.reduce((path, part, i) => path + encodeURIComponent(parameters[i - 1] ?? '') + part);
}
