/** The life cycle of a process: it reports that it is ready, and shuts down in order on a signal, when its parent is
 *  gone, or when its supervisor has replaced it. */
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { Logger } from './log.ts';
import { isSupervised, onReplaced } from './supervision/supervised.ts';

/** For what is left to do after the last request or call. */
const LAST_MS = 4_500;

export interface Ending {
  /** Another process has taken over, and accepts the connections to come (supervision/process-group.ts). */
  isReplaced: boolean;
}

export interface ShutdownOptions {
  log: Logger;
  /** How long `close` may wait for requests and calls in flight. */
  graceMs: number;
  close: (ending: Ending) => Promise<void>;
  /** Default: a repeated signal ends the process at once. */
  onRepeatedSignal?: (signal: NodeJS.Signals) => void;
}

/** Ends the process in order. */
let endInOrder: ((why: string) => void) | undefined;
let isReady = false;

export interface ProcessOptions extends ShutdownOptions {
  /** Sent to the parent over IPC, and logged, when the process is ready. */
  details: Record<string, unknown>;
}

export function runProcess({ details, ...options }: ProcessOptions): void {
  acceptSignals(options);
  reportReady(options.log, details);
}

/** A server calls it before it listens: without it, a signal breaks the requests in progress. */
export function acceptSignals(options: ShutdownOptions): void {
  // Heroku and Ctrl-C signal all processes, so a supervised process gets each signal a second time from its supervisor.
  shutDownOnSignal({ ...(isSupervised() && { onRepeatedSignal: () => {} }), ...options });
}

/** Calls `close` on the first SIGTERM or SIGINT, when the parent is gone, or when another process has taken over; and
 *  exits. */
export function shutDownOnSignal({ log, graceMs, close, onRepeatedSignal = endAtOnce }: ShutdownOptions): void {
  let isEnding = false;
  const end = (why: string, isReplaced = false) => {
    if (isEnding) return;
    isEnding = true;
    log.info({ why }, 'shutting down');
    setTimeout(() => process.exit(1), graceMs + LAST_MS).unref();
    close({ isReplaced }).then(
      () => process.exit(0),
      (error: Error) => {
        log.error({ err: error.message }, 'shutdown failed');
        process.exit(1);
      },
    );
  };
  endInOrder = end;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    let isRepeated = false;
    // The listener stays: a signal that comes while there is none ends the process at once, with its requests.
    process.on(signal, () => {
      if (isRepeated) return onRepeatedSignal(signal);
      isRepeated = true;
      end(signal);
    });
  }
  if (!process.send) return;
  // Those of the boot (core.ts).
  process.removeAllListeners('disconnect');
  process.once('disconnect', () => end('parent gone'));
  if (isSupervised()) onReplaced(() => end('replaced', true));
}

/** As if nothing listened to the signal. */
export function endAtOnce(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

export function reportReady(log: Logger, details: Record<string, unknown>): void {
  isReady = true;
  process.send?.({ ready: true, ...details });
  log.info(details, 'ready');
  // Writes the compile cache now rather than at exit, which may be sudden.
  if (getCompileCacheDir() !== undefined) flushCompileCache();
}

/** The settings. With wrong ones the process ends. */
export function configOrExit(): Config {
  try {
    return readConfig();
  } catch (error) {
    return exitForSettings(error);
  }
}

/** What a wrong setting has caused ends the process, with the reason as the last line instead of a stack.
 *  @throws any other error */
export function exitForSettings(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  console.error(`ConfigError: ${error.message}`);
  process.exit(1);
}

/** For a server that cannot listen on PORT. */
export function exitForPort(error: Error & { code?: string }, { host, port }: Config): never {
  const remedy = error.code === 'EADDRINUSE' ? '. Stop the process that has the port, or set another PORT' : '';
  return exitForSettings(new ConfigError(`PORT: cannot listen on ${host}:${port}: ${error.message}${remedy}`));
}

/** For an error after which the process cannot start, such as a wrong SECRET_KEY. */
export function exitBeforeReady(log: Logger, error: Error): never {
  log.fatal({ err: error.message }, 'cannot start');
  process.exit(1);
}

/** For a reason after which the process cannot go on, whether it has started or not. */
export function stopBecause(log: Logger, error: Error): void {
  if (!isReady) exitBeforeReady(log, error);
  log.fatal({ err: error.message }, 'cannot go on');
  endInOrder?.(error.message);
}
