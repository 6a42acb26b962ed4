/** Sends what is in the outbox, for as long as it runs.
 *
 *      wake: notified of a commit, or a second has passed, or the back-off is over
 *        → the lock: another instance has it: wait
 *        → claim, send, record (batch.ts), until no row is due
 *        → hourly: clean up */
import type { Tidegate } from '../client.ts';
import type { Logger } from '../logger.ts';
import { refuseUnknown } from '../options.ts';
import { databaseOf } from './adapters.ts';
import { sendBatch } from './batch.ts';
import { forgetRows, forgetSteps } from './clean-up.ts';
import { type Database, explained, type Session } from './database.ts';
import { messageOf, type Sender, senderOf } from './sender.ts';
import { CHANNEL, OUTBOX_STATUS, RELAY_LOCK, RELAY_TAKE_OVER } from './statements.ts';
import type { AnyPool } from './types.ts';

export interface RelayOptions {
  /** Rows of acknowledged events are kept for these days. Default: 0, they are deleted at once. */
  keepDays?: number;
  /** How long the service keeps events. A row that was first sent longer ago, and never acknowledged, becomes `uncertain`. Default: 7. */
  retentionDays?: number;
  /** Results of `step.transaction` are kept for at least these days, and until the service no longer has their run. Default: 30. */
  stepsKeepDays?: number;
}

export interface RelayStatus {
  /** Rows that are not yet acknowledged. */
  waiting: number;
  /** Rows whose event the service will never accept. */
  refused: number;
  /** Rows of which nobody knows whether the service had their event. */
  uncertain: number;
  /** Age of the oldest row that waits. */
  oldestSeconds: number;
  /** Size of the table. */
  bytes: number;
}

export interface Relay {
  /** Ends after the send under way. */
  close(): Promise<void>;
  status(): Promise<RelayStatus>;
}

/** Options of a process that sends for others. */
export interface SharedRelayOptions extends RelayOptions {
  /** false: shares the rows with all other relays, by leases, instead of being the only one. It takes over from the one of the app if that dies. */
  lock?: boolean;
}

const OPTIONS = ['keepDays', 'retentionDays', 'stepsKeepDays', 'lock'];
const BATCH_ROWS = 100;
const POLL_MS = 1_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;
/** Whether no relay in the app has the lock at the moment. */
const APP_HAS_NONE = RELAY_LOCK.replace('pg_try_advisory_lock', 'pg_try_advisory_xact_lock_shared');
const CLEAN_UP_EVERY_MS = 3_600_000;

/** Starts a relay in this process. Of all that use this database through a library that can hold a lock, one sends at a time.
 *  @param pool of pg, postgres.js, Drizzle or Knex; those of Prisma and Kysely have no connection of their own, so that their relays look each second */
// biome-ignore lint/suspicious/noExplicitAny: any events
export function relay(client: Tidegate<any, any>, pool: AnyPool, options: RelayOptions = {}): Relay {
  return startRelay(databaseOf(pool), senderOf(client), client.settings().logger, options);
}

/** The same for any database and sender. Without `connect`, it looks each second, and shares the rows with all other relays.
 *  @throws TypeError for an unknown option */
export function startRelay(db: Database, sender: Sender, logger: Logger, options: SharedRelayOptions = {}): Relay {
  refuseUnknown('A relay', options, OPTIONS);
  const relay = new RunningRelay(db, sender, logger, options);
  const ended = relay.run();
  return {
    async close() {
      relay.stop();
      await ended;
    },
    status: () => statusOf(db),
  };
}

async function statusOf(db: Database): Promise<RelayStatus> {
  const [row = {}] = await db.query(OUTBOX_STATUS).catch((error) => {
    throw explained(error);
  });
  return {
    waiting: Number(row.waiting),
    refused: Number(row.refused),
    uncertain: Number(row.uncertain),
    oldestSeconds: Number(row.oldest_seconds),
    bytes: Number(row.bytes),
  };
}

class RunningRelay {
  readonly #db: Database;
  readonly #sender: Sender;
  readonly #logger: Logger;
  readonly #options: SharedRelayOptions;
  #session: Session | undefined;
  /** When the session last had the lock; for a relay that shares: when it was last connected. */
  #lockedMs = Number.NEGATIVE_INFINITY;
  /** Whether a relay in the app may hold leases: it has the lock, or had it, and died with it. */
  #mayLease = true;
  #closing = false;
  #notified = false;
  #wake: () => void = () => {};
  #failures = 0;
  /** The message of the last failure: each is logged once. */
  #lastFailure: string | undefined;
  #cleanedMs = Number.NEGATIVE_INFINITY;

  constructor(db: Database, sender: Sender, logger: Logger, options: SharedRelayOptions) {
    this.#db = db;
    this.#sender = sender;
    this.#logger = logger;
    this.#options = options;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    while (!this.#closing) {
      const failure = await this.#round().catch((error) => messageOf(explained(error)));
      this.#tell(failure);
      this.#failures = failure === undefined ? 0 : this.#failures + 1;
      await this.#rest(failure === undefined ? POLL_MS : backoffMs(this.#failures), failure === undefined);
    }
    await this.#closeSession();
  }

  stop(): void {
    this.#closing = true;
    this.#wake();
  }

  /** @returns why rows still wait */
  async #round(): Promise<string | undefined> {
    this.#notified = false;
    if (!(await this.#isMine())) return undefined;
    const { keepDays = 0, retentionDays = 7 } = this.#options;
    const batch = { keepsRows: keepDays > 0, retentionDays, closing: () => this.#closing };
    for (let full = true; full && !this.#closing; ) {
      // While the service is down, one row tries: each try is recorded in its rows.
      const limit = this.#failures > 0 ? 1 : BATCH_ROWS;
      const result = await sendBatch(this.#db, this.#sender, { ...batch, limit });
      const { claimed, refused, uncertain, failure } = result;
      for (const { position, error } of refused) this.#alert(`refused the event of row ${position}: ${error}`);
      for (const { position, error } of uncertain) this.#alert(`may have the event of row ${position}: ${error}`);
      if (failure !== undefined) return failure;
      this.#failures = 0;
      full = claimed === limit;
    }
    await this.#cleanUp();
    return undefined;
  }

  #alert(message: string): void {
    this.#logger.error(`Outbox: the service ${message}. Decide with \`tidegate outbox list\``);
  }

  /** Whether this is the one relay of the app that sends. */
  async #isMine(): Promise<boolean> {
    if (!this.#db.connect) return true;
    const nowMs = performance.now();
    if (nowMs - this.#lockedMs < POLL_MS) return true;
    try {
      this.#session ??= await this.#db.connect(CHANNEL, () => this.#onNotified());
      const isShared = this.#options.lock === false;
      const [row] = await this.#session.query(isShared ? APP_HAS_NONE : RELAY_LOCK);
      const isFree = row?.locked === true;
      // The one before may have died while it sent: events that it sent count once.
      if (isFree && this.#mayLease) await this.#session.query(RELAY_TAKE_OVER);
      this.#mayLease = !isFree;
      const isMine = isFree || isShared;
      this.#lockedMs = isMine ? nowMs : Number.NEGATIVE_INFINITY;
      return isMine;
    } catch (error) {
      // Perhaps the connection, and the lock with it.
      await this.#closeSession();
      throw error;
    }
  }

  async #closeSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#lockedMs = Number.NEGATIVE_INFINITY;
    this.#mayLease = true;
    await session?.close().catch(() => {});
  }

  #onNotified(): void {
    if (this.#lockedMs === Number.NEGATIVE_INFINITY) return;
    this.#notified = true;
    this.#wake();
  }

  /** @param canWake whether a notification ends it */
  async #rest(ms: number, canWake: boolean): Promise<void> {
    if (this.#closing || (canWake && this.#notified)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (!canWake && !this.#closing) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  async #cleanUp(): Promise<void> {
    const { keepDays = 0, stepsKeepDays = 30 } = this.#options;
    if (performance.now() - this.#cleanedMs < CLEAN_UP_EVERY_MS) return;
    this.#cleanedMs = performance.now();
    try {
      if (keepDays > 0) await forgetRows(this.#db, keepDays);
      await forgetSteps(this.#db, this.#sender, stepsKeepDays);
    } catch (error) {
      this.#logger.warn(
        `Outbox: earlier steps were not deleted: ${messageOf(explained(error))}. The next try is in an hour`,
      );
    }
  }

  #tell(failure: string | undefined): void {
    if (failure === this.#lastFailure) return;
    this.#lastFailure = failure;
    if (failure === undefined) this.#logger.info('Outbox: events are sent again');
    else this.#logger.warn(`Outbox: events wait, and are sent later: ${failure}`);
  }
}

function backoffMs(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
}
