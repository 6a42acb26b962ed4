/** What the SDK complains of, as lines of the service's log: one a minute at most, for a collector that is away fails every batch. */
import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from '../log.ts';

const PAUSE_MS = 60_000;
/** Of a complaint, as much as is logged. */
const SHOWN = 300;

export function rateLimitedWarnings(log: Logger, now: () => number = () => performance.now()): DiagLogger {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  const warn = (message: string, ...details: unknown[]) => {
    if (now() < quietUntil) {
      unsaid++;
      return;
    }
    const said = [messageOf(message), ...details].map(String).join(' ').slice(0, SHOWN);
    log.warn({ err: said, ...(unsaid > 0 && { unsaid }) }, 'tracing');
    quietUntil = now() + PAUSE_MS;
    unsaid = 0;
  };
  const nothing = () => {};
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}

/** The SDK tells an error as JSON, with its stack and the answer that it got. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}
