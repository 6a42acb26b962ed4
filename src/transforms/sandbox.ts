import { type ChildProcess, fork } from 'node:child_process';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../log.ts';
import type { TransformRecorder } from '../metrics/recorder.ts';
import {
  type FromChild,
  type Limits,
  memoryBounds,
  type Order,
  type StopCause,
  type TransformResult,
} from './protocol.ts';
import { CHILD, forkOptions, volunteerForTheOutOfMemoryKiller } from './scheduler/child-process.ts';
import { type Batch, type Drained, InFlightRequests, type Load } from './scheduler/in-flight.ts';
import type { QueuedRequest } from './scheduler/queued-request.ts';

const CODES_IN_A_CHILD = 1_000;
const STDERR_CHARS = 2_000;
/** How V8 ends a process when an allocation fails, and what a fault in it looks like. Every other signal comes from outside. */
const SELF_INFLICTED = new Set<NodeJS.Signals>(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS', 'SIGFPE']);

export interface SandboxOptions {
  limits: Limits;
  /** A thread ends what runs longer than `limits.timeoutMs`; so much later the parent kills the child. */
  graceMs: number;
  /** Longest that a child may take to say that it is ready. */
  bootMs: number;
  now: () => number;
  log: Logger;
  meter: TransformRecorder;
}

export interface SandboxEvents {
  ready(): void;
  /** With fewer verdicts than it has tickets: the others were not begun. */
  answered(batch: Batch, verdicts: readonly TransformResult[]): void;
  /** It should make room for another one soon. Comes again and again until it does. */
  worn(): void;
  /** The process has ended, and not by `end`. Nothing comes after this. */
  died(death: Death): void;
}

/** `time` and `memory`: killed by the parent for it. `crash`: it ended itself. `killed`: by somebody else, and nobody in it is to
 *  blame. `recalled`: killed by the parent, which wants the caught ones back and blames none of them. */
export type DeathCause = StopCause | 'crash' | 'killed' | 'recalled';

export interface Death {
  /** Those that were in it. */
  caught: Drained;
  cause: DeathCause;
  wasReady: boolean;
}

/** One child process, as its parent sees it. Life: forked when made; `ready`; tickets go in, verdicts come out;
 *  killed when a ticket is overdue, or ended. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #events: SandboxEvents;
  readonly #process: ChildProcess;
  readonly #flights: InFlightRequests;
  /** Under which number the child knows which code. */
  readonly #slots: LRUCache<string, number>;
  readonly #forkedAt: number;
  readonly #watch: NodeJS.Timeout;
  readonly #gone = Promise.withResolvers<void>();
  #state: 'starting' | 'ready' | 'dying' | 'ended' = 'starting';
  #wasReady = false;
  /** Why the parent has killed it. */
  #cause: DeathCause | undefined;
  #batches = 0;
  #bytes = 0;
  #orders: Order[] = [];
  #stderr = '';

  constructor(options: SandboxOptions, events: SandboxEvents) {
    this.#options = options;
    this.#events = events;
    this.#flights = new InFlightRequests(options.limits.threads);
    this.#slots = new LRUCache({
      max: CODES_IN_A_CHILD,
      dispose: (slot) => this.#say({ order: 'forget', slot }),
    });
    this.#forkedAt = options.now();
    this.#process = fork(CHILD, [JSON.stringify(options.limits)], forkOptions());
    volunteerForTheOutOfMemoryKiller(this.#process.pid);
    options.meter.childForked();
    this.#process.on('message', (message: FromChild) => this.#hear(message));
    this.#process.on('exit', (code, signal) => this.#onGone({ code, signal }));
    this.#process.on('error', (error) => this.#onError(error));
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#onStderr(text));
    this.#watch = setInterval(() => this.#checkDeadlines(), Math.max(5, options.limits.timeoutMs / 10));
  }

  get ready() {
    return this.#state === 'ready';
  }

  get tickets(): QueuedRequest[] {
    return this.#flights.tickets;
  }

  get load(): Load {
    return this.#flights.load;
  }

  /** @param batch tickets of one webhook; one that only has its code checked is alone */
  send(batch: Batch) {
    this.#batches += 1;
    const number = this.#flights.add(batch, this.#options.now());
    const slot = this.#slotOf(batch.tickets[0] as QueuedRequest, number);
    const args = batch.tickets.map((ticket) => ticket.args);
    this.#say({ order: 'perform', batch: number, slot, args: isGiven(args) ? args : null });
  }

  /** A webhook is no more, or has other code: what is kept of it goes. */
  evict(id: string) {
    if (this.#state === 'ready') this.#say({ order: 'evict', id });
  }

  kill(cause: DeathCause) {
    if (this.#state === 'ended' || this.#state === 'dying') return;
    this.#state = 'dying';
    this.#cause = cause;
    this.#process.kill('SIGKILL');
  }

  /** Resolves when no process is left. */
  async end(): Promise<void> {
    this.#state = 'ended';
    this.#process.kill('SIGKILL');
    await this.#gone.promise;
  }

  #slotOf({ key, transform: { id, code } }: QueuedRequest, fresh: number) {
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    this.#say({ order: 'learn', slot: fresh, id, code });
    this.#slots.set(key, fresh);
    return fresh;
  }

  /** One message, however many orders are given in a row. */
  #say(order: Order) {
    if (this.#orders.push(order) > 1) return;
    queueMicrotask(() => {
      // What cannot be sent is among the caught when `exit` comes.
      if (this.#process.connected) this.#process.send(this.#orders, () => {});
      this.#orders = [];
    });
  }

  #hear(message: FromChild) {
    if (message === 'ready') return this.#onReady();
    if ('bytes' in message) return this.#weigh(message.bytes);
    for (const { batch, verdicts } of message) {
      const flown = this.#flights.take(batch, this.#options.now());
      if (flown) this.#events.answered(flown, verdicts);
    }
    if (this.#isWorn()) this.#events.worn();
  }

  #weigh(bytes: number) {
    this.#bytes = bytes;
    if (bytes > memoryBounds(this.#options.limits).kill) this.kill('memory');
    else if (this.#isWorn()) this.#events.worn();
  }

  #isWorn() {
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
    const { bootMs, now } = this.#options;
    if (this.#state === 'starting' && now() - this.#forkedAt > bootMs) this.kill('time');
    if (!this.#overdue()) return;
    // When it was this process that stood still, the answers are there: one turn of the event loop reads them.
    setImmediate(() => {
      if (this.#overdue()) this.kill('time');
    });
  }

  #overdue() {
    const { limits, graceMs, now } = this.#options;
    return this.ready && this.#flights.anyBegunBefore(now() - limits.timeoutMs - graceMs);
  }

  #onGone(exit: { code?: number | null; signal?: NodeJS.Signals | null; err?: Error }) {
    clearInterval(this.#watch);
    const cause = this.#cause ?? causeOf(exit.signal);
    this.#options.meter.childGone(this.#state === 'ended' ? 'ended' : cause);
    this.#gone.resolve();
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    const caught = this.#flights.drain();
    const { log } = this.#options;
    const count = caught.begun.length + caught.waiting.length;
    if (!this.#wasReady) log.error({ ...exit, stderr: this.#stderr }, 'a child for transforms could not start');
    else log.info({ ...exit, cause, caught: count }, 'a child for transforms has died');
    this.#events.died({ caught, cause, wasReady: this.#wasReady });
  }

  /** Also comes when there never was a process; then there is no `exit`. */
  #onError(error: Error) {
    if (this.#process.pid === undefined) this.#onGone({ err: error });
  }

  #onStderr(text: string) {
    if (this.#state === 'starting') this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    this.#options.log.debug({ stderr: text }, 'a child for transforms wrote to its standard error');
  }
}

function causeOf(signal: NodeJS.Signals | null | undefined): DeathCause {
  return signal && !SELF_INFLICTED.has(signal) ? 'killed' : 'crash';
}

function isGiven(args: (string | null)[]): args is string[] {
  return !args.includes(null);
}
