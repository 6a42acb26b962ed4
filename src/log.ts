/** Structured logs to standard output. Payloads, keys and secrets are never logged: lines carry IDs. */
import { type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger };

export function createLog(level: string, role: string): Logger {
  return pino({
    level,
    base: { role },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
