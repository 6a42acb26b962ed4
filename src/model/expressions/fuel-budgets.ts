/** Fuel budget of each evaluation, based on the previous cost of the expression and of its environment. Times are milliseconds of any
 *  one clock.
 *
 *  An expression that was stopped ten times within a minute is quarantined: for one minute, then two, up to an hour. If the expressions of
 *  an environment have used its share of the process, its costly expressions are quarantined until the end of the minute. A quarantined
 *  expression is still evaluated with a very small budget, which is enough for most events. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../values/cache-size.ts';
import { HOUR_MS, MINUTE_MS } from '../values/time.ts';
import { EVALUATION_UNITS, type Evaluation } from './expression.ts';

/** A tenth of this is enough to read ten list elements. */
export const QUARANTINE_UNITS = 1_000;
/** Fuel per minute: about 5 s of CPU, less than a tenth of a process. */
const SHARE_UNITS = 60_000_000;
const STRIKES = 10;
const QUARANTINE_MAX_MS = HOUR_MS;
/** An expression without strikes for this long starts over. */
const RESET_AFTER_MS = 2 * QUARANTINE_MAX_MS;

export type Quarantine = 'strikes' | 'share';

export interface FuelBudget {
  units: number;
  quarantine?: Quarantine;
  /** End of the quarantine. */
  until?: number;
}

/** The budget to which an evaluation is charged. */
export interface Owner {
  env: string;
  /** Unique across environments. */
  expression: string;
}

interface History {
  strikes: number[];
  quarantines: number;
  until: number;
}

interface Share {
  minute: number;
  spent: number;
}

const FULL: FuelBudget = { units: EVALUATION_UNITS };

export class FuelBudgets {
  /** Bounded against any number of expressions and environments; an evicted record only means that the expression is trusted again. */
  readonly #records = new LRUCache<string, History>(atMost(10_000));
  readonly #shares = new LRUCache<string, Share>({ max: 1_000 });

  budgetOf({ env, expression }: Owner, now: number): FuelBudget {
    const until = this.#records.get(expression)?.until ?? 0;
    if (until > now) return { units: QUARANTINE_UNITS, quarantine: 'strikes', until };
    const share = this.#shares.get(env);
    if (share && share.minute === minuteOf(now) && share.spent > SHARE_UNITS) {
      return { units: QUARANTINE_UNITS, quarantine: 'share', until: (share.minute + 1) * MINUTE_MS };
    }
    return FULL;
  }

  record({ env, expression }: Owner, { result, cost }: Evaluation, { quarantine }: FuelBudget, now: number): void {
    if (cost > QUARANTINE_UNITS) this.#spend(env, cost, now);
    if (result === 'too_costly' && quarantine === undefined) this.#strike(expression, now);
  }

  #spend(env: string, cost: number, now: number): void {
    const minute = minuteOf(now);
    const share = this.#shares.get(env);
    if (share?.minute === minute) share.spent += cost;
    else this.#shares.set(env, { minute, spent: cost });
  }

  #strike(key: string, now: number): void {
    const known = this.#records.get(key);
    const record = known && now - known.until < RESET_AFTER_MS ? known : { strikes: [], quarantines: 0, until: now };
    record.strikes = [...record.strikes.filter((at) => now - at < MINUTE_MS), now];
    if (record.strikes.length >= STRIKES) {
      record.until = now + Math.min(MINUTE_MS * 2 ** record.quarantines, QUARANTINE_MAX_MS);
      record.quarantines += 1;
      record.strikes = [];
    }
    this.#records.set(key, record);
  }
}

function minuteOf(now: number): number {
  return Math.floor(now / MINUTE_MS);
}
