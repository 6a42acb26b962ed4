/** Several processes of one role.
 *
 *  1. The first process starts alone. If it ends before it is ready, the group has failed: a wrong setting is reported
 *     once, as by a single process.
 *  2. The others start, all at once.
 *  3. A process that ends is replaced, at once or after a delay (restart-delay.ts).
 *  4. `stop` ends all with SIGTERM; each shuts down in order. */
import { type ChildProcess, fork } from 'node:child_process';
import { constants } from 'node:os';
import type { Logger } from '../log.ts';
import { restartDelayMs, STABLE_MS } from './restart-delay.ts';

export interface ProcessGroupOptions {
  /** The script of a process. It gets its number as argument. */
  file: string;
  count: number;
  /** Added to the environment. */
  env: Record<string, string>;
  log: Logger;
  onMessage(child: ChildProcess, message: unknown): void;
  onExit(child: ChildProcess): void;
}

/** A process of the group, and those that replace it. */
interface Member {
  number: number;
  child: ChildProcess | undefined;
  /** Has reported that it is ready. */
  isReady: boolean;
  startedAt: number;
  quickEnds: number;
  restart: NodeJS.Timeout | undefined;
}

export class FirstStartFailed extends Error {
  override name = 'FirstStartFailed';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the first process ended with exit code ${exitCode} before it was ready`);
    this.exitCode = exitCode;
  }
}

export class ProcessGroup {
  readonly #options: ProcessGroupOptions;
  readonly #members: Member[];
  readonly #ready = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  #hasStarted = false;
  #isStopping = false;
  #failures = 0;

  constructor(options: ProcessGroupOptions) {
    this.#options = options;
    this.#members = Array.from({ length: options.count }, (_, i) => {
      return { number: i + 1, child: undefined, isReady: false, startedAt: 0, quickEnds: 0, restart: undefined };
    });
  }

  /** Resolves when all have been ready.
   *  @throws FirstStartFailed */
  start(): Promise<void> {
    this.#start(this.#members[0] as Member);
    return this.#ready.promise;
  }

  /** @throws when a process that was ready did not end with exit code 0 */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    for (const { child, restart } of this.#members) {
      clearTimeout(restart);
      child?.kill('SIGTERM');
    }
    const timeout = setTimeout(() => this.kill(), timeoutMs);
    this.#checkStopped();
    await this.#stopped.promise;
    clearTimeout(timeout);
    if (this.#failures > 0) throw new Error(`${this.#failures} processes did not shut down in order`);
  }

  /** Ends all at once. */
  kill(): void {
    for (const { child } of this.#members) child?.kill('SIGKILL');
  }

  #start(member: Member): void {
    const { file, env, onMessage } = this.#options;
    const child = fork(file, [String(member.number)], {
      // biome-ignore lint/style/noProcessEnv: passed on, not read
      env: { ...process.env, ...env },
      serialization: 'advanced',
    });
    Object.assign(member, { child, isReady: false, startedAt: performance.now() });
    child.on('message', (message: { ready?: true }) => {
      if (message.ready) this.#becameReady(member);
      else onMessage(child, message);
    });
    child.once('exit', (code, signal) => this.#ended(member, child, code, signal));
    // It could not be started. Then there is no exit.
    child.on('error', (error) => {
      this.#options.log.error({ process: member.number, err: error.message }, 'cannot start a process');
      if (child.pid === undefined) this.#ended(member, child, 1, null);
    });
  }

  #becameReady(member: Member): void {
    member.isReady = true;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      for (const other of this.#members) if (other !== member) this.#start(other);
    }
    if (this.#members.every(({ isReady }) => isReady)) this.#ready.resolve();
  }

  #ended(member: Member, child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    const { log, onExit } = this.#options;
    const { number, isReady } = member;
    const exitCode = code ?? 128 + constants.signals[signal as NodeJS.Signals];
    member.child = undefined;
    onExit(child);
    if (this.#isStopping) {
      // One that was not ready had nothing in progress.
      if (isReady && exitCode !== 0) {
        this.#failures++;
        log.error({ process: number, exit_code: exitCode }, 'a process did not shut down in order');
      }
      this.#checkStopped();
    } else if (this.#hasStarted) {
      this.#replace(member, exitCode);
    } else {
      this.#ready.reject(new FirstStartFailed(exitCode));
    }
  }

  #replace(member: Member, exitCode: number): void {
    member.quickEnds = performance.now() - member.startedAt < STABLE_MS ? member.quickEnds + 1 : 0;
    const delayMs = restartDelayMs(member.quickEnds);
    const facts = { process: member.number, exit_code: exitCode, delay_ms: delayMs };
    this.#options.log.error(facts, 'a process ended; another replaces it');
    member.restart = setTimeout(() => this.#start(member), delayMs);
  }

  #checkStopped(): void {
    if (this.#members.every(({ child }) => child === undefined)) this.#stopped.resolve();
  }
}
