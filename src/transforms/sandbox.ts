import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import type { TransformMeter } from '../instruments/meter.ts';
import type { Logger } from '../log.ts';
import { type Batch, Flights, type Load } from './flights.ts';
import type { FromChild, Limits, Order, StopCause, Verdict } from './protocol.ts';
import type { Ticket } from './ticket.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const CODES_IN_A_CHILD = 1_000;
const STDERR_CHARS = 2_000;

export interface SandboxOptions {
  limits: Limits;
  /** A thread ends what runs longer than `limits.timeoutMs`; so much later the parent kills the child. */
  graceMs: number;
  /** Longest that a child may take to say that it is ready. */
  bootMs: number;
  now: () => number;
  log: Logger;
  meter: TransformMeter;
}

export interface SandboxEvents {
  ready(): void;
  /** With fewer verdicts than it has tickets: the others were not begun. */
  answered(batch: Batch, verdicts: readonly Verdict[]): void;
  /** The process has ended, and not by `end`. Nothing comes after this. */
  died(death: Death): void;
}

export interface Death {
  /** Those that were in it; the likeliest culprits last. */
  caught: Ticket[];
  /** `recalled`: killed by the parent, which wants the caught ones back and blames none of them. */
  cause: StopCause | 'recalled';
  wasReady: boolean;
}

/** One child process, as its parent sees it. Life: forked when made; `ready`; tickets go in, verdicts come out;
 *  killed when a ticket is overdue, or ended. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #events: SandboxEvents;
  readonly #process: ChildProcess;
  readonly #flights: Flights;
  /** Under which number the child knows which code. */
  readonly #slots: LRUCache<string, number>;
  readonly #forkedAt: number;
  readonly #watch: NodeJS.Timeout;
  readonly #gone = Promise.withResolvers<void>();
  #state: 'starting' | 'ready' | 'dying' | 'ended' = 'starting';
  #wasReady = false;
  #cause: Death['cause'] = 'memory';
  #orders: Order[] = [];
  #stderr = '';

  constructor(options: SandboxOptions, events: SandboxEvents) {
    this.#options = options;
    this.#events = events;
    this.#flights = new Flights(options.limits.threads);
    this.#slots = new LRUCache({
      max: CODES_IN_A_CHILD,
      dispose: (slot) => this.#say({ order: 'forget', slot }),
    });
    this.#forkedAt = options.now();
    this.#process = fork(CHILD, [JSON.stringify(options.limits)], {
      env: {},
      execArgv: [
        '--no-node-snapshot',
        '--disable-warning=ExperimentalWarning',
        '--max-semi-space-size=4',
        '--heap-growing-percent=30',
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
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

  get tickets(): Ticket[] {
    return this.#flights.tickets;
  }

  get load(): Load {
    return this.#flights.load;
  }

  /** @param batch tickets of one webhook; one that only has its code checked is alone */
  send(batch: Batch) {
    const number = this.#flights.add(batch, this.#options.now());
    const slot = this.#slotOf(batch.tickets[0] as Ticket, number);
    const args = batch.tickets.map((ticket) => ticket.args);
    this.#say({ order: 'perform', batch: number, slot, args: isGiven(args) ? args : null });
  }

  kill(cause: Death['cause']) {
    if (this.#state === 'ended') return;
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

  #slotOf({ key, transform: { id, code } }: Ticket, fresh: number) {
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
    for (const { batch, verdicts } of message) {
      const flown = this.#flights.take(batch, this.#options.now());
      if (flown) this.#events.answered(flown, verdicts);
    }
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

  #onGone(exit: Record<string, unknown>) {
    clearInterval(this.#watch);
    this.#options.meter.childGone(this.#state === 'ended' ? 'ended' : this.#cause);
    this.#gone.resolve();
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    const caught = this.#flights.drain();
    const { log } = this.#options;
    if (!this.#wasReady) log.error({ ...exit, stderr: this.#stderr }, 'a child for transforms could not start');
    else log.info({ ...exit, cause: this.#cause, caught: caught.length }, 'a child for transforms has died');
    this.#events.died({ caught, cause: this.#cause, wasReady: this.#wasReady });
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

function isGiven(args: (string | null)[]): args is string[] {
  return !args.includes(null);
}
