/** Duties: work that a process repeats until it ends. Each is declared once, next to its work; the runner (runner.ts) handles scheduling,
 *  leases, errors, metrics and shutdown. docs/inventory.md lists all of them from these declarations. */

/** `process`: every process does it for itself. `partition`: a worker does it for each of its partitions. `installation`: one process at
 *  a time does it for the whole installation. */
export type Scope = 'process' | 'partition' | 'installation';

export interface Round {
  /** Aborted when the process ends, and when another process may have the lease. */
  signal: AbortSignal;
  /** 0 unless the scope is `partition`. */
  partition: number;
}

/** Does one round. It may throw: the runner logs the error and tries again.
 *  @returns milliseconds until the next round; undefined: as declared */
export type DoRound = (round: Round) => Promise<number | undefined> | Promise<void>;

/** An interval that depends on a setting. */
export interface Varying<Deps> {
  of: (deps: Deps) => number;
  /** For docs/inventory.md. */
  inWords: string;
}

export interface Duty<Deps> {
  /** Used in logs, metrics and the lease in Redis: never change it. */
  name: string;
  /** Description of the work, for docs/inventory.md. */
  about: string;
  scope: Scope;
  /** Milliseconds between rounds, give or take a quarter. */
  everyMs: number | Varying<Deps>;
  /** Lets one process at a time do a round. If it dies, another process takes over after this time. undefined: several
   *  processes may do rounds at once. */
  leaseMs?: number;
  /** Delay of the first round. Default: 0. */
  firstAfterMs?: (deps: Deps) => number;
  /** How long shutdown waits for the last round, and then for `end`. Default: 1 s. */
  lastRoundMs?: number;
  /** Whether this process does it at all. Default: yes. */
  isWanted?: (deps: Deps) => boolean;
  /** Called once, when the duty starts; its local variables persist from round to round. */
  rounds: (deps: Deps) => DoRound;
  /** Called after the last round. */
  end?: (deps: Deps) => Promise<unknown>;
}

export function duty<Deps>(declared: Duty<Deps>): Duty<Deps> {
  if (declared.scope === 'installation' && declared.leaseMs === undefined) {
    throw new TypeError(`the duty ${declared.name} needs leaseMs: one process of the installation does it at a time`);
  }
  return declared;
}

/** Dependencies of all these duties. */
export type DepsOf<Duties extends readonly Duty<never>[]> = [Duties[number]] extends [Duty<infer Deps>] ? Deps : never;

const LAST_ROUND_MS = 1_000;

/** A duty with its dependencies. */
export interface BoundDuty {
  name: string;
  scope: Scope;
  everyMs: number;
  leaseMs: number | undefined;
  firstAfterMs: number;
  lastRoundMs: number;
  doRound: (round: Round) => Promise<number | undefined>;
  end: () => Promise<unknown>;
}

export function bind<Deps>(duty: Duty<Deps>, deps: Deps): BoundDuty {
  const { name, scope, everyMs, leaseMs, lastRoundMs = LAST_ROUND_MS } = duty;
  const doRound = duty.rounds(deps);
  return {
    name,
    scope,
    everyMs: typeof everyMs === 'number' ? everyMs : everyMs.of(deps),
    leaseMs,
    firstAfterMs: duty.firstAfterMs?.(deps) ?? 0,
    lastRoundMs,
    doRound: async (round) => (await doRound(round)) ?? undefined,
    end: async () => duty.end?.(deps),
  };
}
