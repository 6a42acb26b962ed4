import type { Batch, Load } from './flights.ts';
import type { Verdict } from './protocol.ts';
import { type Death, Sandbox, type SandboxOptions } from './sandbox.ts';
import { overloaded, type Ticket } from './ticket.ts';
import { Waiting } from './waiting.ts';

const STARTS_BEFORE_GIVING_UP = 3;

export interface LaneOptions {
  sandbox: SandboxOptions;
  places: number;
  /** Who goes into the child now, given what is in it; undefined: nobody yet. */
  next(waiting: Waiting, load: Load): Batch | undefined;
  /** The child is ended when it had nothing to do for so long; undefined: it is always kept ready. */
  idleMs?: number;
  onVerdict(ticket: Ticket, verdict: Verdict): void;
  onDeath(death: Death): void;
}

/** Tickets that wait for one child, and that child: forked when it is needed, and again whenever it has died. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #waiting: Waiting;
  #sandbox: Sandbox | undefined;
  #failedStarts = 0;
  #idle: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  #closed = false;
  #pumping: NodeJS.Immediate | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#waiting = new Waiting(options.places);
    if (options.idleMs === undefined) this.#start();
  }

  get waiting() {
    return this.#waiting.size;
  }

  get inFlight() {
    return this.#sandbox?.tickets.length ?? 0;
  }

  enter(ticket: Ticket) {
    if (this.#closed) return ticket.settle(overloaded());
    this.#waiting.add(ticket)?.settle(overloaded());
    this.#pumpSoon();
  }

  /** The waiting tickets of one key leave. */
  withdraw(key: string): Ticket[] {
    return this.#waiting.withdraw(key);
  }

  /** Nothing of this key shall run here any more. What is in the child cannot be taken out, so the child is killed;
   *  all that were in it come back by `onDeath`, blameless. */
  recall(key: string) {
    if (this.#sandbox?.tickets.some((ticket) => ticket.key === key)) this.#sandbox.kill('recalled');
  }

  async close() {
    this.#closed = true;
    clearTimeout(this.#idle);
    for (const ticket of [...this.#waiting.drain(), ...(this.#sandbox?.tickets ?? [])]) ticket.settle(overloaded());
    await Promise.all([this.#sandbox?.end(), this.#ending]);
  }

  #start() {
    this.#sandbox ??= new Sandbox(this.#options.sandbox, {
      ready: () => {
        this.#failedStarts = 0;
        this.#pump();
      },
      answered: ({ tickets }, verdicts) => {
        this.#waiting.putBack(tickets.slice(verdicts.length));
        verdicts.forEach((verdict, i) => {
          this.#options.onVerdict(tickets[i] as Ticket, verdict);
        });
        this.#pumpSoon();
      },
      died: (death) => this.#onDeath(death),
    });
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

  #onDeath(death: Death) {
    this.#sandbox = undefined;
    if (this.#closed) return;
    if (!death.wasReady) this.#failedStarts += 1;
    if (this.#failedStarts >= STARTS_BEFORE_GIVING_UP) {
      // The next ticket tries again; until then there is no use in forking.
      this.#failedStarts = 0;
      for (const ticket of this.#waiting.drain()) ticket.settle(overloaded());
    } else if (this.#options.idleMs === undefined) this.#start();
    if (death.caught.length > 0) this.#options.onDeath(death);
    this.#pump();
  }

  #endWhenIdle() {
    const { idleMs } = this.#options;
    if (idleMs === undefined || !this.#sandbox?.ready || this.#sandbox.load.tickets > 0) return;
    this.#idle = setTimeout(() => {
      this.#ending = this.#sandbox?.end();
      this.#sandbox = undefined;
    }, idleMs).unref();
  }
}
