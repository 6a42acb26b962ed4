/** The text of an error by which runs are found. */
import type { RunError } from './run-error.ts';

export function errorText({ name, message }: Pick<RunError, 'name' | 'message'>): string {
  return `${name}: ${message}`;
}

/** Characters of an error that live updates have. */
const SHORT_CHARS = 200;

export function shortErrorText(error: RunError | null | undefined): string | null {
  return error ? errorText(error).slice(0, SHORT_CHARS) : null;
}
