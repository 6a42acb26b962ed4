/** Several processes of one role.
 *
 *  1. The first process starts alone. If it ends before it is ready, the group has failed: a wrong setting is reported once, as by a single
 *  process.
 *  2. The others start, all at the same time.
 *  3. A process that ends is replaced, immediately or after a delay (restart-delay.ts).
 *  4. `reload` replaces one after another: a successor starts, and takes over when it is ready.
 *  5. `stop` ends all with SIGTERM; each shuts down in order. */
import type { ChildProcess } from 'node:child_process';
import type { Logger } from '../log.ts';
import { Composed } from '../model/values/composed.ts';
import { GroupProcess, type ProcessEnd } from './group-process.ts';
import { ignoreClosed, type ToProcess } from './messages.ts';
import { restartDelayMs, STABLE_MS } from './restart-delay.ts';

export interface ProcessGroupOptions {
  /** Script of a process. Its argument is the number. */
  file: string;
  count: number;
  /** Added to the environment. */
  env: Record<string, string>;
  log: Logger;
  onMessage(child: ChildProcess, message: unknown, number: number): void;
  onExit(child: ChildProcess): void;
  /** No process will have this number for a while. */
  onVacant(number: number): void;
}

/** A number of the group, and its processes. */
interface Member {
  number: number;
  current: GroupProcess | undefined;
  /** The process that will take over when it is ready. */
  successor: GroupProcess | undefined;
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

export class ProcessGroup extends Composed<ProcessGroupOptions> {
  readonly #members: Member[] = Array.from({ length: this.deps.count }, (_, i) => {
    return { number: i + 1, current: undefined, successor: undefined, quickEnds: 0, restart: undefined };
  });
  readonly #processes = new Set<GroupProcess>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  #hasStarted = false;
  #isStopping = false;
  #failures = 0;

  /** Resolves when all have been ready.
   *  @throws FirstStartFailed */
  start(): Promise<void> {
    this.#start(this.#members[0] as Member);
    return this.#ready.promise;
  }

  /** Stops at the first successor that does not become ready: it logs why, and the current processes continue.
   *  @param graceMs maximum time for a replaced process to end
   *  @returns whether all were replaced */
  async reload(graceMs: number): Promise<boolean> {
    await this.#ready.promise;
    for (const member of this.#members) {
      if (this.#isStopping || !(await this.#succeed(member, graceMs))) return false;
    }
    return true;
  }

  /** @throws if a process that was ready did not end with exit code 0 */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    for (const { restart } of this.#members) clearTimeout(restart);
    for (const { child } of this.#processes) child.kill('SIGTERM');
    const timeout = setTimeout(() => this.kill(), timeoutMs);
    this.#checkStopped();
    await this.#stopped.promise;
    clearTimeout(timeout);
    if (this.#failures > 0) throw new Error(`${this.#failures} processes did not shut down in order`);
  }

  /** Kills all processes. */
  kill(): void {
    for (const { child } of this.#processes) child.kill('SIGKILL');
  }

  #start(member: Member): void {
    member.current = this.#fork(member);
    void member.current.ready.then((isReady) => isReady && this.#becameReady(member));
  }

  #fork(member: Member): GroupProcess {
    const { number } = member;
    const { file, env, log, onMessage } = this.deps;
    const process = new GroupProcess({
      file,
      number,
      env,
      log,
      onMessage: (child, message) => onMessage(child, message, number),
      onEnd: (end) => this.#ended(member, process, end),
    });
    this.#processes.add(process);
    return process;
  }

  #becameReady(member: Member): void {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      for (const other of this.#members) if (other !== member) this.#start(other);
    }
    if (this.#members.every(({ current }) => current?.isReady)) this.#ready.resolve();
  }

  /** @returns false if the successor did not become ready */
  async #succeed(member: Member, graceMs: number): Promise<boolean> {
    clearTimeout(member.restart);
    const successor = this.#fork(member);
    member.successor = successor;
    const isReady = await successor.ready;
    member.successor = undefined;
    if (!isReady) {
      const { exitCode } = await successor.ended;
      if (!member.current && !this.#isStopping) this.#replace(member, successor, exitCode);
      return false;
    }
    const replaced = member.current;
    member.current = successor;
    if (replaced) await this.#retire(replaced, graceMs);
    return true;
  }

  async #retire({ child, ended }: GroupProcess, graceMs: number): Promise<void> {
    const timeout = setTimeout(() => child.kill('SIGKILL'), graceMs);
    child.send({ kind: 'replaced' } satisfies ToProcess, undefined, undefined, ignoreClosed);
    await ended;
    clearTimeout(timeout);
  }

  #ended(member: Member, process: GroupProcess, { exitCode }: ProcessEnd): void {
    const { log, onExit } = this.deps;
    const { child, isReady } = process;
    const isCurrent = process === member.current;
    if (isCurrent) member.current = undefined;
    this.#processes.delete(process);
    onExit(child);
    const facts = { process: member.number, exit_code: exitCode };
    if (this.#isStopping) {
      // A process that was not ready had nothing in progress.
      if (isReady && exitCode !== 0) {
        this.#failures++;
        log.error(facts, 'a process did not shut down in order');
      }
      this.#checkStopped();
    } else if (!this.#hasStarted) {
      this.#ready.reject(new FirstStartFailed(exitCode));
    } else if (process === member.successor) {
      log.error(facts, 'a new process ended before it was ready; the old ones go on');
    } else if (!isCurrent) {
      if (exitCode !== 0) log.error(facts, 'a replaced process did not shut down in order');
    } else if (!member.successor) {
      this.#replace(member, process, exitCode);
    }
  }

  #replace(member: Member, ended: GroupProcess, exitCode: number): void {
    member.quickEnds = performance.now() - ended.startedAt < STABLE_MS ? member.quickEnds + 1 : 0;
    const delayMs = restartDelayMs(member.quickEnds);
    const facts = { process: member.number, exit_code: exitCode, delay_ms: delayMs };
    this.deps.log.error(facts, 'a process ended; another replaces it');
    if (delayMs > 0) this.deps.onVacant(member.number);
    member.restart = setTimeout(() => this.#start(member), delayMs);
  }

  #checkStopped(): void {
    if (this.#processes.size === 0) this.#stopped.resolve();
  }
}
