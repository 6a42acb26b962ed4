/** Structured logs to standard output. Payloads, keys and secrets are never logged: lines carry IDs. */
import { type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

export function createLog(level: string, role: string): Logger {
  return pino({
    level,
    base: { role },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error) => tellError(error) },
  });
}

const MAX_CAUSES = 5;

/** Of an error its type, message, stack, code and causes, and nothing else that libraries hang on it: a Redis command with its
 *  arguments, a request with its headers. */
export function tellError(error: unknown, depth = 0): unknown {
  if (typeof error === 'string') return withoutArguments(error);
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause, code, previousErrors } = error as Error & Record<string, unknown>;
  const causes = [...(Array.isArray(previousErrors) ? previousErrors : []), ...(cause === undefined ? [] : [cause])];
  return {
    type: name,
    message: withoutArguments(message),
    ...(typeof code === 'string' && { code }),
    stack: withoutArguments(stack ?? ''),
    ...(causes.length > 0 &&
      depth < MAX_CAUSES && { causes: causes.slice(0, MAX_CAUSES).map((one) => tellError(one, depth + 1)) }),
  };
}

/** Redis repeats the arguments of a command that it does not know. */
export function withoutArguments(text: string): string {
  return text.replace(/, with args beginning with:[^\n]*/g, '');
}
