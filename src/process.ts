/** The life cycle of a process: it reports that it is ready, and shuts down in order on a signal, or when its parent is
 *  gone. */
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import type { Logger } from './log.ts';
import { isSupervised } from './supervision/supervised.ts';

/** For what is left to do after the last request or call. */
const LAST_MS = 4_500;

export interface ShutdownOptions {
  log: Logger;
  /** How long `close` may wait for requests and calls in flight. */
  graceMs: number;
  close: () => Promise<void>;
  /** Default: a repeated signal ends the process at once. */
  onRepeatedSignal?: (signal: NodeJS.Signals) => void;
}

/** Ends a running process in order; undefined until it is ready. */
let endRunning: ((why: string) => void) | undefined;

export interface ProcessOptions extends ShutdownOptions {
  /** Sent to the parent over IPC, and logged, when the process is ready. */
  details: Record<string, unknown>;
}

export function runProcess(options: ProcessOptions): void {
  // Heroku and Ctrl-C signal all processes, so a supervised process gets each signal a second time from its supervisor.
  shutDownOnSignal({ ...(isSupervised() && { onRepeatedSignal: () => {} }), ...options });
  reportReady(options.log, options.details);
}

/** Calls `close` on the first SIGTERM or SIGINT, or when the parent is gone, and exits. */
export function shutDownOnSignal({ log, graceMs, close, onRepeatedSignal }: ShutdownOptions): void {
  let isEnding = false;
  const end = (why: string) => {
    if (isEnding) return;
    isEnding = true;
    log.info({ why }, 'shutting down');
    setTimeout(() => process.exit(1), graceMs + LAST_MS).unref();
    close().then(
      () => process.exit(0),
      (error: Error) => {
        log.error({ err: error.message }, 'shutdown failed');
        process.exit(1);
      },
    );
  };
  endRunning = end;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      end(signal);
      if (onRepeatedSignal) process.on(signal, onRepeatedSignal);
    });
  }
  if (!process.send) return;
  // Those of the boot (core.ts).
  process.removeAllListeners('disconnect');
  process.once('disconnect', () => end('parent gone'));
}

export function reportReady(log: Logger, details: Record<string, unknown>): void {
  process.send?.({ ready: true, ...details });
  log.info(details, 'ready');
  // Writes the compile cache now rather than at exit, which may be sudden.
  if (getCompileCacheDir() !== undefined) flushCompileCache();
}

/** For an error after which the process cannot start, such as a wrong SECRET_KEY. */
export function exitBeforeReady(log: Logger, error: Error): never {
  log.fatal({ err: error.message }, 'cannot start');
  process.exit(1);
}

/** For a reason after which the process cannot go on, whether it has started or not. */
export function stopBecause(log: Logger, error: Error): void {
  if (!endRunning) exitBeforeReady(log, error);
  log.fatal({ err: error.message }, 'cannot go on');
  endRunning(error.message);
}
