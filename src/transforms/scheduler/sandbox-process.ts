import { type ChildProcess, fork } from 'node:child_process';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../log.ts';
import type { TransformRecorder } from '../../metrics/recorder.ts';
import {
  type Arguments,
  type ChildMessage,
  type Command,
  type Limits,
  memoryBounds,
  type StopCause,
  type TransformResult,
} from '../protocol.ts';
import { CHILD } from '../sandbox/program.ts';
import { forkOptions, preferForOutOfMemoryKill } from './fork-options.ts';
import { type Batch, type Drained, InFlightRequests, type Load } from './in-flight.ts';
import type { QueuedRequest } from './queued-request.ts';
import { isStopped } from './stopped-process.ts';

const LOADED_CODE_LIMIT = 1_000;
const STDERR_CHARS = 2_000;
/** How V8 ends a process when an allocation fails, and how a fault in V8 looks. Every other signal comes from outside. */
const CRASH_SIGNALS = new Set<NodeJS.Signals>(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS', 'SIGFPE']);

export interface SandboxOptions {
  limits: Limits;
  /** A thread stops code that runs longer than `limits.timeoutMs`; the parent kills the child this much later. */
  graceMs: number;
  /** Longest time that a child may take to become ready. */
  startTimeoutMs: number;
  now: () => number;
  /** Lead of the time of transforms over the machine's time. */
  aheadMs: () => number;
  log: Logger;
  recorder: TransformRecorder;
}

export interface SandboxEvents {
  ready(): void;
  /** If there are fewer results than requests, the other requests were not started. */
  completed(batch: Batch, results: readonly TransformResult[]): void;
  /** Asks for a replacement soon, repeatedly until the process ends. */
  needsReplacement(): void;
  /** The process has exited, and not through `end`. This is the last event. */
  exited(exit: ProcessExit): void;
}

/** `time` and `memory`: the parent killed the child for exceeding a limit. `crash`: the child exited by itself. `killed`: another process
 *  killed the child, or stopped it until the parent killed it; no request is to blame. `recalled`: the parent killed the child to get its
 *  requests back; no request is to blame either. */
export type ExitCause = StopCause | 'crash' | 'killed' | 'recalled';

export interface ProcessExit {
  /** The requests that were inside. */
  unfinished: Drained;
  cause: ExitCause;
  wasReady: boolean;
}

/** The parent's side of one child process. Life cycle: the constructor forks it; `ready`; batches go in, results come out; the
 *  parent kills it when a batch is overdue, or ends it. */
export class SandboxProcess {
  readonly #options: SandboxOptions;
  readonly #events: SandboxEvents;
  readonly #process: ChildProcess;
  readonly #inFlight: InFlightRequests;
  /** Handles of the code that the child has loaded. */
  readonly #handles: LRUCache<string, number>;
  readonly #forkedAt: number;
  readonly #deadlineTimer: NodeJS.Timeout;
  readonly #exited = Promise.withResolvers<void>();
  #state: 'starting' | 'ready' | 'killed' | 'ended' = 'starting';
  #wasReady = false;
  /** Why the parent has killed it. */
  #cause: ExitCause | undefined;
  #batches = 0;
  #bytes = 0;
  #commands: Command[] = [];
  #stderr = '';

  constructor(options: SandboxOptions, events: SandboxEvents) {
    this.#options = options;
    this.#events = events;
    this.#inFlight = new InFlightRequests(options.limits.threads);
    this.#handles = new LRUCache({
      max: LOADED_CODE_LIMIT,
      dispose: (handle) => this.#command({ type: 'unload', handle }),
    });
    this.#forkedAt = options.now();
    this.#process = fork(CHILD, [JSON.stringify(options.limits)], forkOptions());
    preferForOutOfMemoryKill(this.#process.pid);
    options.recorder.transformProcessStarted();
    this.#process.on('message', (message: ChildMessage) => this.#onMessage(message));
    this.#process.on('exit', (code, signal) => this.#onExit({ code, signal }));
    this.#process.on('error', (error) => this.#onError(error));
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#onStderr(text));
    this.#deadlineTimer = setInterval(() => this.#checkDeadlines(), Math.max(5, options.limits.timeoutMs / 10));
  }

  get ready() {
    return this.#state === 'ready';
  }

  get requests(): QueuedRequest[] {
    return this.#inFlight.requests;
  }

  get load(): Load {
    return this.#inFlight.load;
  }

  /** @param batch requests of one webhook; a request that only checks code is alone in its batch */
  send(batch: Batch) {
    this.#batches += 1;
    const number = this.#inFlight.add(batch, this.#options.now());
    const handle = this.#loadCode(batch.requests[0] as QueuedRequest, number);
    const args = batch.requests.map((request) => request.args);
    const aheadMs = this.#options.aheadMs();
    this.#command({ type: 'run', batch: number, handle, args: hasArgs(args) ? args : null, aheadMs });
  }

  /** Drops cached isolates of a webhook that was deleted or edited. */
  evict(id: string) {
    if (this.#state === 'ready') this.#command({ type: 'evict', id });
  }

  kill(cause: ExitCause) {
    if (this.#state === 'ended' || this.#state === 'killed') return;
    this.#state = 'killed';
    this.#cause = cause;
    this.#process.kill('SIGKILL');
  }

  /** Resolves when the process has exited. */
  async end(): Promise<void> {
    this.#state = 'ended';
    this.#process.kill('SIGKILL');
    await this.#exited.promise;
  }

  #loadCode({ key, transform: { id, code } }: QueuedRequest, newHandle: number) {
    const loaded = this.#handles.get(key);
    if (loaded !== undefined) return loaded;
    this.#command({ type: 'load', handle: newHandle, id, code });
    this.#handles.set(key, newHandle);
    return newHandle;
  }

  /** Sends all commands of one turn in one message. */
  #command(command: Command) {
    if (this.#commands.push(command) > 1) return;
    queueMicrotask(() => {
      // Requests that cannot be sent are among the unfinished requests at `exit`.
      if (this.#process.connected) this.#process.send(this.#commands, () => {});
      this.#commands = [];
    });
  }

  #onMessage(message: ChildMessage) {
    if (message === 'ready') return this.#onReady();
    if ('bytes' in message) return this.#onMemory(message.bytes);
    for (const { batch: number, results } of message) {
      const batch = this.#inFlight.remove(number, this.#options.now());
      if (batch) this.#events.completed(batch, results);
    }
    if (this.#needsReplacement()) this.#events.needsReplacement();
  }

  #onMemory(bytes: number) {
    this.#bytes = bytes;
    if (bytes > memoryBounds(this.#options.limits).kill) this.kill('memory');
    else if (this.#needsReplacement()) this.#events.needsReplacement();
  }

  #needsReplacement() {
    const { limits } = this.#options;
    return this.ready && (this.#batches >= limits.batchesPerChild || this.#bytes > memoryBounds(limits).replace);
  }

  #onReady() {
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#wasReady = true;
    this.#events.ready();
  }

  #checkDeadlines() {
    const { startTimeoutMs, now } = this.#options;
    if (this.#state === 'starting' && now() - this.#forkedAt > startTimeoutMs) this.kill('time');
    if (!this.#isOverdue()) return;
    // If this process was blocked, the results are already there: one turn of the event loop reads them.
    setImmediate(() => {
      if (this.#isOverdue()) this.kill(isStopped(this.#process.pid) ? 'killed' : 'time');
    });
  }

  #isOverdue() {
    const { limits, graceMs, now } = this.#options;
    return this.ready && this.#inFlight.anyStartedBefore(now() - limits.timeoutMs - graceMs);
  }

  #onExit(exit: { code?: number | null; signal?: NodeJS.Signals | null; err?: Error }) {
    clearInterval(this.#deadlineTimer);
    const cause = this.#cause ?? causeOf(exit.signal);
    this.#options.recorder.transformProcessExited(this.#state === 'ended' ? 'ended' : cause);
    this.#exited.resolve();
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    const unfinished = this.#inFlight.drain();
    const { log } = this.#options;
    const count = unfinished.started.length + unfinished.pending.length;
    if (!this.#wasReady) log.error({ ...exit, stderr: this.#stderr }, 'transform process did not start');
    else log.info({ ...exit, cause, unfinished: count }, 'transform process exited');
    this.#events.exited({ unfinished, cause, wasReady: this.#wasReady });
  }

  /** Also fires when the process could not be created; then there is no `exit`. */
  #onError(error: Error) {
    if (this.#process.pid === undefined) this.#onExit({ err: error });
  }

  #onStderr(text: string) {
    if (this.#state === 'starting') this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    this.#options.log.debug({ stderr: text }, 'transform process wrote to stderr');
  }
}

function causeOf(signal: NodeJS.Signals | null | undefined): ExitCause {
  return signal && !CRASH_SIGNALS.has(signal) ? 'killed' : 'crash';
}

function hasArgs(args: (Arguments | null)[]): args is Arguments[] {
  return !args.includes(null);
}
