/** The text of an error by which runs are found. */
import type { RunError } from './run-error.ts';

export function errorText({ name, message }: Pick<RunError, 'name' | 'message'>): string {
  return `${name}: ${message}`;
}
