/** Structured logs on standard output. Payloads, keys and secrets are never logged; lines have IDs. */
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** @param process number among several in a dyno or container
 *  @param destination default: standard output */
export function createLog(level: string, role: string, process?: number, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { role, ...(process !== undefined && { process }) },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => serializeError(error) },
  };
  return destination ? pino(options, destination) : pino(options);
}

const MAX_CAUSES = 5;

/** Logs type, message, stack, code and causes of an error. Omits other properties that libraries add: a Redis command with its
 *  arguments, a request with its headers. */
export function serializeError(error: unknown, depth = 0): unknown {
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
      depth < MAX_CAUSES && { causes: causes.slice(0, MAX_CAUSES).map((cause) => serializeError(cause, depth + 1)) }),
  };
}

/** Redis quotes the arguments of an unknown command in its error. */
export function withoutArguments(text: string): string {
  return text.replace(/, with args beginning with:[^\n]*/g, '');
}
