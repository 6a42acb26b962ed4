/** The life of a process: it says when it is ready, and ends in order when it is told to or when whoever started it is gone. */
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import type { Logger } from './log.ts';

/** For what is left to do when the last request or call is over. */
const LAST_MS = 4_500;

/** @param endMs how long `close` may wait for what is in flight
 *  @param facts told to the parent over IPC with the word that this process is ready */
export function runProcess(
  log: Logger,
  close: () => Promise<void>,
  endMs: number,
  facts: Record<string, unknown> = {},
): void {
  let ending = false;
  const end = (why: string) => {
    if (ending) return;
    ending = true;
    log.info({ why }, 'ending');
    setTimeout(() => process.exit(1), endMs + LAST_MS).unref();
    close().then(
      () => process.exit(0),
      (error: Error) => {
        log.error({ err: error.message }, 'did not end in order');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', () => end('SIGTERM'));
  process.once('SIGINT', () => end('SIGINT'));
  if (process.send) {
    process.once('disconnect', () => end('parent gone'));
    process.send({ ready: true, ...facts });
  }
  log.info(facts, 'ready');
  // Where compiled code is kept, now rather than at the end, which may be sudden.
  if (getCompileCacheDir() !== undefined) flushCompileCache();
}
