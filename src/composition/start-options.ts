/** Options and results of starting web and worker. Both can run in any process, even several at a time. */
import type { Config } from '../config.ts';
import type { DutyRunner } from '../duties/runner.ts';
import type { Logger } from '../log.ts';
import type { GroupMember } from '../supervision/supervised.ts';
import { Opened } from './opened.ts';

export interface StartOptions {
  config: Config;
  log: Logger;
  /** undefined without a supervisor. */
  group?: GroupMember | undefined;
  /** Called when it can be closed in order, before it takes the first request; it may not be ready yet. */
  onClosable?: (close: Running['close']) => void;
  /** Called if the process has started and cannot continue. Default: no action. */
  onFailure?: (error: Error) => void;
}

export interface Ending {
  /** Another process has taken over, and accepts new connections (supervision/process-group.ts). */
  isReplaced: boolean;
}

export interface Running {
  /** Ports that it listens on. */
  ports: { port?: number; metricsPort?: number };
  /** Lets tests run a round immediately. */
  duties: Pick<DutyRunner, 'runNow' | 'states'>;
  close(ending?: Ending): Promise<void>;
}

/** Arguments of `start`: the list to which it adds the resources that it opens, and the function to call with a failure. */
export interface Starting {
  opened: Opened;
  fail: (error: Error) => void;
}

/** Before the process has started, a failure closes the opened resources and rejects the start; later failures are reported. */
export async function startOrFail(
  start: (options: StartOptions & Starting) => Promise<Running>,
  options: StartOptions,
): Promise<Running> {
  const failure = Promise.withResolvers<never>();
  const opened = new Opened();
  const starting = start({ ...options, opened, fail: failure.reject });
  const started = await Promise.race([starting, failure.promise]).catch(async (error) => {
    await opened.close().catch(() => {});
    throw error;
  });
  failure.promise.catch((error) => options.onFailure?.(error));
  return started;
}
