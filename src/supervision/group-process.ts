/** One process of a group, from its start to its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { constants } from 'node:os';
import type { Logger } from '../log.ts';

export interface GroupProcessOptions {
  /** Script of the process. Its argument is the number. */
  file: string;
  number: number;
  /** Added to the environment. */
  env: Record<string, string>;
  log: Logger;
  onMessage(child: ChildProcess, message: unknown): void;
  /** Called once. */
  onEnd(end: ProcessEnd): void;
}

export interface ProcessEnd {
  /** 128 and more: ended by a signal. */
  exitCode: number;
}

export class GroupProcess {
  readonly child: ChildProcess;
  readonly startedAt: number = performance.now();
  /** Resolves to false if it ended before it was ready. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<ProcessEnd>;
  isReady = false;

  constructor({ file, number, env, log, onMessage, onEnd }: GroupProcessOptions) {
    const ready = Promise.withResolvers<boolean>();
    const ended = Promise.withResolvers<ProcessEnd>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    // biome-ignore lint/style/noProcessEnv: passed on, not read
    this.child = fork(file, [String(number)], { env: { ...process.env, ...env }, serialization: 'advanced' });
    const { child } = this;
    const end = (exitCode: number) => {
      onEnd({ exitCode });
      ready.resolve(false);
      ended.resolve({ exitCode });
    };
    child.on('message', (message: { ready?: true }) => {
      if (!message.ready) return onMessage(child, message);
      this.isReady = true;
      ready.resolve(true);
    });
    child.once('exit', (code, signal) => end(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
    // The process could not be started, so there will be no exit.
    child.on('error', (error) => {
      log.error({ process: number, err: error.message }, 'cannot start a process');
      if (child.pid === undefined) end(1);
    });
  }
}
