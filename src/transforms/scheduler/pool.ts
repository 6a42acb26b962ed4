import { Composed } from '../../model/values/composed.ts';
import type { TransformResult } from '../protocol.ts';
import { FairQueue } from './fair-queue.ts';
import type { Batch, Load } from './in-flight.ts';
import { notStarting, overloaded, type QueuedRequest, shuttingDown } from './queued-request.ts';
import { type ProcessExit, type SandboxOptions, SandboxProcess } from './sandbox-process.ts';

/** After this many failed starts in a row, the pool rejects requests immediately until a child has started. */
const FAILED_STARTS_LIMIT = 3;
const RESTART_MS = 100;
/** Interval at which the pool checks again whether the child can take queued requests: running requests may take longer than expected. */
const ASK_AGAIN_MS = 10;
const RESTART_MAX_MS = 30_000;

export interface PoolOptions {
  sandbox: SandboxOptions;
  queueLimit: number;
  /** Picks the next batch for a child with this load; undefined: none now. */
  nextBatch(queue: FairQueue, load: Load): Batch | undefined;
  /** Ends the child after this time without work; undefined: keeps a child ready once it has started. */
  idleTimeoutMs?: number;
  onResult(request: QueuedRequest, result: TransformResult): void;
  onExit(exit: ProcessExit): void;
}

/** A queue of requests and the child process that serves them. Forks the child on demand or in advance, restarts it after it exits, and replaces
 *  it gracefully when it asks for replacement. */
export class Pool extends Composed<PoolOptions> {
  readonly #queue = new FairQueue(this.deps.queueLimit);
  #current: SandboxProcess | undefined;
  /** The process that starts while the current one still works. */
  #replacement: SandboxProcess | undefined;
  /** The process that was replaced, and finishes its requests. */
  #draining: SandboxProcess | undefined;
  #failedStarts = 0;
  #restartTimer: NodeJS.Timeout | undefined;
  #restartMs = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  #closed = false;
  #scheduled: NodeJS.Immediate | undefined;
  #askAgainTimer: NodeJS.Timeout | undefined;

  get queued() {
    return this.#queue.size;
  }

  get inFlight() {
    return this.#inFlightRequests.length;
  }

  get #inFlightRequests() {
    return this.#processes.flatMap((process) => process.requests);
  }

  get #processes() {
    return [this.#current, this.#replacement, this.#draining].filter((process) => process !== undefined);
  }

  /** Forks the child if it does not run, so that it is ready for the first request. */
  start() {
    if (!this.#closed && this.#restartTimer === undefined) this.#current ??= this.#fork();
  }

  enqueue(request: QueuedRequest) {
    if (this.#closed) return request.settle(shuttingDown());
    if (this.#failedStarts >= FAILED_STARTS_LIMIT && !this.#current?.ready) return request.settle(this.#notStarting());
    this.#queue.add(request)?.settle(overloaded());
    this.#scheduleDispatch();
  }

  withdraw(key: string): QueuedRequest[] {
    return this.#queue.withdraw(key);
  }

  /** Stops requests of this key from running here. A request cannot be taken out of a child, so the pool kills the child; all its requests come
   *  back through `onExit`, without blame. */
  recall(key: string) {
    for (const process of this.#processes)
      if (process.requests.some((request) => request.key === key)) process.kill('recalled');
  }

  evict(id: string) {
    for (const process of this.#processes) process.evict(id);
  }

  async close() {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#restartTimer);
    clearTimeout(this.#askAgainTimer);
    for (const request of [...this.#queue.drain(), ...this.#inFlightRequests]) request.settle(shuttingDown());
    await Promise.all([...this.#processes.map((process) => process.end()), this.#ending]);
  }

  #fork(): SandboxProcess {
    const process = new SandboxProcess(this.deps.sandbox, {
      ready: () => this.#onReady(process),
      completed: ({ requests }, results) => {
        this.#queue.putBack(requests.slice(results.length));
        results.forEach((result, i) => {
          this.deps.onResult(requests[i] as QueuedRequest, result);
        });
        if (process === this.#draining) this.#endWhenDrained();
        this.#scheduleDispatch();
      },
      needsReplacement: () => {
        const busy = this.#draining || this.#replacement || this.#closed || this.#restartTimer;
        if (process === this.#current && !busy) this.#replacement = this.#fork();
      },
      exited: (exit) => this.#onExit(process, exit),
    });
    return process;
  }

  #onReady(process: SandboxProcess) {
    this.#failedStarts = 0;
    if (process === this.#replacement) {
      this.#draining = this.#current;
      this.#current = process;
      this.#replacement = undefined;
      this.#endWhenDrained();
    }
    this.#dispatch();
  }

  #endWhenDrained() {
    if (this.#draining === undefined || this.#draining.load.requests > 0) return;
    this.#ending = this.#draining.end();
    this.#draining = undefined;
  }

  /** Waits for all requests that this turn of the event loop reads: they go in one message, and in batches where possible. */
  #scheduleDispatch() {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = undefined;
      this.#dispatch();
    });
  }

  #dispatch() {
    clearTimeout(this.#idleTimer);
    if (this.#closed) return;
    if (this.#queue.size > 0) this.start();
    while (this.#current?.ready) {
      const batch = this.deps.nextBatch(this.#queue, this.#current.load);
      if (batch === undefined) break;
      this.#current.send(batch);
    }
    if (this.#queue.size > 0 && this.#current?.ready) this.#askAgain();
    this.#endWhenIdle();
  }

  #askAgain() {
    this.#askAgainTimer ??= setTimeout(() => {
      this.#askAgainTimer = undefined;
      this.#dispatch();
    }, ASK_AGAIN_MS).unref();
  }

  #onExit(process: SandboxProcess, exit: ProcessExit) {
    if (process === this.#current) this.#current = this.#replacement;
    if (process === this.#replacement || this.#current === this.#replacement) this.#replacement = undefined;
    if (process === this.#draining) this.#draining = undefined;
    if (this.#closed) return;
    if (!exit.wasReady) this.#delayNextStart();
    if (this.deps.idleTimeoutMs === undefined) this.start();
    if (exit.unfinished.started.length > 0) this.deps.onExit(exit);
    this.#dispatch();
  }

  #delayNextStart() {
    this.#failedStarts += 1;
    this.#restartMs = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** (this.#failedStarts - 1));
    clearTimeout(this.#restartTimer);
    this.#restartTimer = setTimeout(() => {
      this.#restartTimer = undefined;
      this.start();
    }, this.#restartMs);
    if (this.#failedStarts < FAILED_STARTS_LIMIT || this.#current) return;
    for (const request of this.#queue.drain()) request.settle(this.#notStarting());
  }

  #notStarting() {
    return notStarting(Math.ceil(this.#restartMs / 1_000));
  }

  #endWhenIdle() {
    const { idleTimeoutMs } = this.deps;
    if (idleTimeoutMs === undefined || !this.#current?.ready) return;
    if (this.#current.load.requests > 0 || this.#replacement) return;
    this.#idleTimer = setTimeout(() => {
      this.#ending = this.#current?.end();
      this.#current = undefined;
    }, idleTimeoutMs).unref();
  }
}
