/** Logs warnings of the OpenTelemetry SDK: at most one per minute, because every batch fails while a collector is down. */
import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from '../log.ts';

const INTERVAL_MS = 60_000;
const MESSAGE_CHARS = 300;

export function rateLimitedWarnings(log: Logger, now: () => number = () => performance.now()): DiagLogger {
  let suppressedUntil = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  const warn = (message: string, ...details: unknown[]) => {
    if (now() < suppressedUntil) {
      suppressed++;
      return;
    }
    const warning = [messageOf(message), ...details].map(String).join(' ').slice(0, MESSAGE_CHARS);
    log.warn({ err: warning, ...(suppressed > 0 && { suppressed }) }, 'tracing');
    suppressedUntil = now() + INTERVAL_MS;
    suppressed = 0;
  };
  const noop = () => {};
  return { error: warn, warn, info: noop, debug: noop, verbose: noop };
}

/** The SDK reports an error as JSON with its stack and the response. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}
