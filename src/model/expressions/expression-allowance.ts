/** How much each judgment of an expression may cost (model/expressions/expression.ts), by what it and those of its environment have cost before. Times
 *  are milliseconds of any one clock.
 *
 *  An expression that was stopped ten times within a minute is quarantined: for a minute, then two, up to an hour. So is, until the
 *  minute is over, what is costly in an environment whose expressions have taken their share of the process. In quarantine an expression
 *  is still judged, as far as next to nothing carries: by what most events hold, that is far enough. */
import { LRUCache } from 'lru-cache';
import { JUDGMENT_UNITS, type Judgment } from './expression.ts';

/** Ten elements of a list are looked at with a tenth of this. */
export const QUARANTINE_UNITS = 1_000;
/** About 5 s of CPU, less than a tenth of a process. */
export const SHARE_UNITS = 60_000_000;
const MINUTE_MS = 60_000;
const STRIKES = 10;
const QUARANTINE_MAX_MS = 3_600_000;
/** An expression that was well for so long begins anew. */
const FORGOTTEN_AFTER_MS = 2 * QUARANTINE_MAX_MS;

export type Quarantine = 'strikes' | 'share';

export interface Allowance {
  units: number;
  quarantine?: Quarantine;
  /** When the quarantine is over. */
  until?: number;
}

/** Whose judgment it is. */
export interface Owner {
  env: string;
  /** Tells it from all others, of other environments too. */
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

const FULL: Allowance = { units: JUDGMENT_UNITS };

export class Allowances {
  /** The bounds are against expressions and environments without number; what falls out is merely trusted again. */
  readonly #records = new LRUCache<string, History>({ max: 10_000 });
  readonly #shares = new LRUCache<string, Share>({ max: 1_000 });

  of({ env, expression }: Owner, now: number): Allowance {
    const until = this.#records.get(expression)?.until ?? 0;
    if (until > now) return { units: QUARANTINE_UNITS, quarantine: 'strikes', until };
    const share = this.#shares.get(env);
    if (share && share.minute === minuteOf(now) && share.spent > SHARE_UNITS) {
      return { units: QUARANTINE_UNITS, quarantine: 'share', until: (share.minute + 1) * MINUTE_MS };
    }
    return FULL;
  }

  note({ env, expression }: Owner, { verdict, cost }: Judgment, { quarantine }: Allowance, now: number): void {
    if (cost > QUARANTINE_UNITS) this.#spend(env, cost, now);
    if (verdict === 'too_costly' && quarantine === undefined) this.#strike(expression, now);
  }

  #spend(env: string, cost: number, now: number): void {
    const minute = minuteOf(now);
    const share = this.#shares.get(env);
    if (share?.minute === minute) share.spent += cost;
    else this.#shares.set(env, { minute, spent: cost });
  }

  #strike(key: string, now: number): void {
    const known = this.#records.get(key);
    const record =
      known && now - known.until < FORGOTTEN_AFTER_MS ? known : { strikes: [], quarantines: 0, until: now };
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
