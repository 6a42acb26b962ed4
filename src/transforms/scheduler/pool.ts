import type { TransformResult } from '../protocol.ts';
import { type Death, Sandbox, type SandboxOptions } from '../sandbox.ts';
import { FairQueue } from './fair-queue.ts';
import type { Batch, Load } from './in-flight.ts';
import { notStarting, overloaded, type QueuedRequest } from './queued-request.ts';

/** After so many failures in a row, requests are refused at once until a child has started. */
const STARTS_BEFORE_REFUSING = 3;
const START_AGAIN_MS = 100;
const START_AGAIN_MAX_MS = 30_000;

export interface PoolOptions {
  sandbox: SandboxOptions;
  places: number;
  /** Who goes into the child now, given what is in it; undefined: nobody yet. */
  next(waiting: FairQueue, load: Load): Batch | undefined;
  /** The child is ended when it had nothing to do for so long; undefined: it is always kept ready. */
  idleMs?: number;
  onVerdict(ticket: QueuedRequest, verdict: TransformResult): void;
  onDeath(death: Death): void;
}

/** Tickets that wait for one child, and that child: forked when it is needed, again whenever it has died, and replaced in good
 *  order when it is worn. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #waiting: FairQueue;
  #sandbox: Sandbox | undefined;
  /** Starts while the worn one still works. */
  #successor: Sandbox | undefined;
  /** Was replaced, and finishes what is in it. */
  #retiring: Sandbox | undefined;
  #failedStarts = 0;
  #startAgain: NodeJS.Timeout | undefined;
  #startAgainMs = 0;
  #idle: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  #closed = false;
  #pumping: NodeJS.Immediate | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#waiting = new FairQueue(options.places);
    if (options.idleMs === undefined) this.#start();
  }

  get waiting() {
    return this.#waiting.size;
  }

  get inFlight() {
    return this.#tickets.length;
  }

  get #tickets() {
    return this.#all.flatMap((sandbox) => sandbox.tickets);
  }

  get #all() {
    return [this.#sandbox, this.#successor, this.#retiring].filter((one) => one !== undefined);
  }

  enter(ticket: QueuedRequest) {
    if (this.#closed) return ticket.settle(overloaded());
    if (this.#failedStarts >= STARTS_BEFORE_REFUSING && !this.#sandbox?.ready)
      return ticket.settle(this.#notStarting());
    this.#waiting.add(ticket)?.settle(overloaded());
    this.#pumpSoon();
  }

  /** The waiting tickets of one key leave. */
  withdraw(key: string): QueuedRequest[] {
    return this.#waiting.withdraw(key);
  }

  /** Nothing of this key shall run here any more. What is in the child cannot be taken out, so the child is killed;
   *  all that were in it come back by `onDeath`, blameless. */
  recall(key: string) {
    for (const sandbox of this.#all) if (sandbox.tickets.some((ticket) => ticket.key === key)) sandbox.kill('recalled');
  }

  evict(id: string) {
    for (const sandbox of this.#all) sandbox.evict(id);
  }

  async close() {
    this.#closed = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#startAgain);
    for (const ticket of [...this.#waiting.drain(), ...this.#tickets]) ticket.settle(overloaded());
    await Promise.all([...this.#all.map((sandbox) => sandbox.end()), this.#ending]);
  }

  #start() {
    if (this.#startAgain === undefined) this.#sandbox ??= this.#fork();
  }

  #fork(): Sandbox {
    const sandbox = new Sandbox(this.#options.sandbox, {
      ready: () => this.#onReady(sandbox),
      answered: ({ tickets }, verdicts) => {
        this.#waiting.putBack(tickets.slice(verdicts.length));
        verdicts.forEach((verdict, i) => {
          this.#options.onVerdict(tickets[i] as QueuedRequest, verdict);
        });
        if (sandbox === this.#retiring) this.#endWhenDone();
        this.#pumpSoon();
      },
      worn: () => {
        if (sandbox !== this.#sandbox || this.#retiring || this.#successor || this.#closed || this.#startAgain) return;
        this.#successor = this.#fork();
      },
      died: (death) => this.#onDeath(sandbox, death),
    });
    return sandbox;
  }

  #onReady(sandbox: Sandbox) {
    this.#failedStarts = 0;
    if (sandbox === this.#successor) {
      this.#retiring = this.#sandbox;
      this.#sandbox = sandbox;
      this.#successor = undefined;
      this.#endWhenDone();
    }
    this.#pump();
  }

  #endWhenDone() {
    if (this.#retiring === undefined || this.#retiring.load.tickets > 0) return;
    this.#ending = this.#retiring.end();
    this.#retiring = undefined;
  }

  /** After the requests that this turn of the event loop has read: they go in one message, and together where they can. */
  #pumpSoon() {
    this.#pumping ??= setImmediate(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  #pump() {
    clearTimeout(this.#idle);
    if (this.#closed) return;
    if (this.#waiting.size > 0) this.#start();
    while (this.#sandbox?.ready) {
      const batch = this.#options.next(this.#waiting, this.#sandbox.load);
      if (batch === undefined) break;
      this.#sandbox.send(batch);
    }
    this.#endWhenIdle();
  }

  #onDeath(sandbox: Sandbox, death: Death) {
    if (sandbox === this.#sandbox) this.#sandbox = this.#successor;
    if (sandbox === this.#successor || this.#sandbox === this.#successor) this.#successor = undefined;
    if (sandbox === this.#retiring) this.#retiring = undefined;
    if (this.#closed) return;
    if (!death.wasReady) this.#waitBeforeNextStart();
    if (this.#options.idleMs === undefined) this.#start();
    if (death.caught.begun.length > 0) this.#options.onDeath(death);
    this.#pump();
  }

  #waitBeforeNextStart() {
    this.#failedStarts += 1;
    this.#startAgainMs = Math.min(START_AGAIN_MAX_MS, START_AGAIN_MS * 2 ** (this.#failedStarts - 1));
    clearTimeout(this.#startAgain);
    this.#startAgain = setTimeout(() => {
      this.#startAgain = undefined;
      this.#start();
    }, this.#startAgainMs);
    if (this.#failedStarts < STARTS_BEFORE_REFUSING || this.#sandbox) return;
    for (const ticket of this.#waiting.drain()) ticket.settle(this.#notStarting());
  }

  #notStarting() {
    return notStarting(Math.ceil(this.#startAgainMs / 1_000));
  }

  #endWhenIdle() {
    const { idleMs } = this.#options;
    if (idleMs === undefined || !this.#sandbox?.ready || this.#sandbox.load.tickets > 0 || this.#successor) return;
    this.#idle = setTimeout(() => {
      this.#ending = this.#sandbox?.end();
      this.#sandbox = undefined;
    }, idleMs).unref();
  }
}
