/** Life cycle of a process: it reports that it is ready, and shuts down in order on a signal, when its parent is gone, or when its
 *  supervisor has replaced it. Nothing else reads the process's state or ends it. */
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import type { Ending, Running, StartOptions } from './composition/start-options.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createLog, type Logger } from './log.ts';
import { type GroupMember, groupMember } from './supervision/supervised.ts';

/** Time for work after the last request or call. */
const LAST_MS = 4_500;

/** Runs web or worker as this process, until it must end. */
export async function runAsProcess(
  role: 'web' | 'worker',
  start: (options: StartOptions) => Promise<Running>,
): Promise<void> {
  const config = configOrExit();
  const group = groupMember();
  const log = createLog(config.logLevel, role, group?.number);
  // Handles signals until an orderly shutdown is possible.
  if (group) process.once('disconnect', () => process.exit(1));
  const graceMs = role === 'web' ? Math.max(config.shutdownDrainMs, config.shutdownGraceMs) : config.shutdownGraceMs;
  let endBecause: ((failure: string) => void) | undefined;
  const { ports } = await start({
    config,
    log,
    group,
    onClosable(close) {
      endBecause = endInOrder({ log, graceMs, close, group });
    },
    onFailure(error) {
      log.fatal({ err: error.message }, 'cannot go on');
      endBecause?.(error.message);
    },
  }).catch((error) => exitBeforeReady(log, error));
  reportReady(log, ports);
}

export interface ShutdownOptions {
  log: Logger;
  /** Maximum time that `close` may wait for requests and calls in flight. */
  graceMs: number;
  close: (ending: Ending) => Promise<void>;
  /** undefined without a supervisor. */
  group?: GroupMember | undefined;
  /** Default: a repeated signal ends the process immediately. */
  onRepeatedSignal?: (signal: NodeJS.Signals) => void;
}

/** Calls `close` and exits on the first SIGTERM or SIGINT, when the parent is gone, or when another process has taken over.
 *  @returns a function that does the same because of a failure */
export function endInOrder({ log, graceMs, close, group, onRepeatedSignal }: ShutdownOptions): (why: string) => void {
  // Heroku and Ctrl-C signal all processes, so a supervised process gets each signal again from its supervisor.
  const repeated = onRepeatedSignal ?? (group ? () => {} : endAtOnce);
  let isEnding = false;
  const end = (why: string, { isReplaced = false, exitCode = 0 } = {}) => {
    if (isEnding) return;
    isEnding = true;
    log.info({ why }, 'shutting down');
    setTimeout(() => process.exit(1), graceMs + LAST_MS).unref();
    close({ isReplaced }).then(
      () => process.exit(exitCode),
      (error: Error) => {
        log.error({ err: error.message }, 'shutdown failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    let isRepeated = false;
    // The listener stays, because a signal without one ends the process immediately, with its requests.
    process.on(signal, () => {
      if (isRepeated) return repeated(signal);
      isRepeated = true;
      end(signal);
    });
  }
  const fail = (why: string) => end(why, { exitCode: 1 });
  if (!process.send) return fail;
  // Removes the listeners of the start.
  process.removeAllListeners('disconnect');
  process.once('disconnect', () => end('parent gone'));
  group?.onReplaced(() => end('replaced', { isReplaced: true }));
  return fail;
}

/** Ends the process as if it had no listener for the signal. */
export function endAtOnce(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** @param details sent to the parent over IPC, and logged */
export function reportReady(log: Logger, details: Record<string, unknown>): void {
  process.send?.({ ready: true, ...details });
  log.info(details, 'ready');
  // Writes the compile cache now instead of at exit, which may be sudden.
  if (getCompileCacheDir() !== undefined) flushCompileCache();
}

/** Reads the settings; invalid ones end the process. */
export function configOrExit(): Config {
  try {
    return readConfig();
  } catch (error) {
    return exitForSettings(error);
  }
}

/** Ends the process because of a wrong setting, with the reason as the last line instead of a stack.
 *  @throws any other error */
export function exitForSettings(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  console.error(`ConfigError: ${error.message}`);
  process.exit(1);
}

/** Ends the process with an error that prevents the start. */
function exitBeforeReady(log: Logger, error: Error): never {
  if (error instanceof ConfigError) return exitForSettings(error);
  log.fatal({ err: error.message, stack: error.stack }, 'cannot start');
  process.exit(1);
}
