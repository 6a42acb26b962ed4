/** The text of an error that searches of runs match. */
import type { RunError } from './run-error.ts';

export function errorText({ name, message }: Pick<RunError, 'name' | 'message'>): string {
  return `${name}: ${message}`;
}

/** Maximum length of an error in live updates. */
const SHORT_CHARS = 200;

export function shortErrorText(error: RunError | null | undefined): string | null {
  return error ? errorText(error).slice(0, SHORT_CHARS) : null;
}
