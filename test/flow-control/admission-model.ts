/** A model of admission: random clients of the store, and what must hold after each of their operations. */
import { expect } from 'chai';
import type { Admissions, DueCheck, Progress } from '../../src/store/flow-control/admissions.ts';
import type { BacklogInfo, BacklogLimit } from '../../src/store/flow-control/backlog-info.ts';

/** `lost`: its client died before it made a job; `returned`: a check gave its permits back. */
type State = 'waits' | 'holds' | 'lost' | 'returned' | 'done';

interface ModelCall {
  entry: string;
  run: string;
  backlog: string;
  score: number;
  state: State;
}

interface ModelBacklog {
  id: string;
  info: BacklogInfo;
  waiting: Set<ModelCall>;
}

export interface ModelOptions {
  admissions: Admissions;
  partition: number;
  makeChecksDue: () => Promise<void>;
  seed: number;
  calls: number;
}

const ENV = 'production';
const SIZES = [1, 1, 1, 2, 2, 3, 3, 250];
/** Starts from which windows of a throttle are counted. */
const ANCHORS = 100;

/** mulberry32: a failure is repeated by its seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const now = () => performance.timeOrigin + performance.now();

/** Calls of the same time go by their names, as run IDs sort by the time of their creation. */
function isBefore(one: ModelCall, other: ModelCall): boolean {
  return one.score < other.score || (one.score === other.score && one.entry < other.entry);
}

export class AdmissionModel {
  readonly calls = new Map<string, ModelCall>();
  readonly backlogs: ModelBacklog[] = [];
  /** By run, those limits of whole runs that it has. */
  readonly #runs = new Map<string, { env: string; limits: Set<string>; open: Set<string> }>();
  readonly #holders = new Map<string, Set<string>>();
  readonly #starts = new Map<string, { before: number; after: number }[]>();
  readonly #timers: { limit: string; at: number }[] = [];
  readonly #unfinished: string[] = [];
  readonly #options: ModelOptions;
  readonly #random: () => number;
  #created = 0;
  #score = 1_790_000_000_000;
  /** When the operation began whose grants are counted. */
  #before = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#random = randomOf(options.seed);
    const steps = Array.from({ length: 4 }, (_, n) => this.#limit(`s${n}`, 'step'));
    const runs = Array.from({ length: 3 }, (_, n) => this.#limit(`r${n}`, 'run'));
    const throttles = Array.from({ length: 2 }, (_, n) => {
      const intervalMs = this.#pick([0.7, 1 / 3, 5]);
      const toleranceMs = intervalMs * this.#pick([0, 1, 6]);
      return { id: `t${n}`, kind: 'throttle', limit: 1, intervalMs, toleranceMs } satisfies BacklogLimit;
    });
    for (let n = 0; n < 14; n++) {
      const limits: BacklogLimit[] = [
        ...(this.#random() < 0.2 ? [this.#pick(throttles)] : []),
        ...(this.#random() < 0.4 ? [this.#pick(runs)] : []),
        ...steps.filter(() => this.#random() < 0.4),
      ];
      if (limits.length === 0) limits.push(this.#pick(steps));
      const info = { env: ENV, functionId: `f${n % 5}`, startsRuns: false, keys: {}, limits };
      this.backlogs.push({ id: `${ENV}:b${n}`, info, waiting: new Set() });
    }
  }

  #limit(id: string, kind: BacklogLimit['kind']): BacklogLimit {
    return { id, kind, limit: this.#pick(SIZES) };
  }

  get isDone(): boolean {
    return this.#created >= this.#options.calls && [...this.calls.values()].every(({ state }) => state === 'done');
  }

  async step(): Promise<void> {
    const at = this.#random();
    if (at < 0.45 && this.#created < this.#options.calls) await this.#admitNew();
    else if (at < 0.75) await this.#releaseOne();
    else if (at < 0.8) await this.#admitAgain();
    else if (at < 0.83) await this.#withdrawOne();
    else if (at < 0.85) await this.#changeSize();
    else if (at < 0.87) await this.#move();
    else if (at < 0.9) await this.endRun();
    else if (at < 0.93) await this.#check();
    else await this.#goOn();
  }

  /** Ends all: what holds permits gives them back, and what is left undone is found by checks. */
  async drain(): Promise<void> {
    for (let round = 0; round < 20_000 && !this.isDone; round++) {
      const at = this.#random();
      if (at < 0.6) await this.#releaseOne();
      else if (at < 0.8) await this.#goOn();
      else if (at < 0.9) await this.endRun();
      else if (at < 0.92) await this.#check();
      else await this.#admitAgain('returned');
    }
    expect([...this.calls.values()].filter(({ state }) => state !== 'done')).to.deep.equal([], 'calls are stuck');
    while (await this.endRun());
    await this.#goOn(true);
    await this.#check();
  }

  async #admitNew(): Promise<void> {
    const backlog = this.#pick(this.backlogs);
    const n = this.#created++;
    this.#score += 1;
    const score = this.#score - (this.#random() < 0.1 ? Math.floor(this.#random() * 100) + 0.5 : 0);
    const entry = `R${n}/0`;
    const call: ModelCall = { entry, run: `R${n}`, backlog: backlog.id, score, state: 'waits' };
    this.calls.set(entry, call);
    await this.#admit(call);
  }

  /** A client repeats what it did, or a lost call is found. */
  async #admitAgain(state: State = this.#random() < 0.5 ? 'returned' : 'waits'): Promise<void> {
    const call = this.#some(state);
    if (!call) return;
    if (call.state === 'returned') {
      call.state = 'waits';
      call.score = ++this.#score;
    }
    await this.#admit(call);
  }

  async #admit(call: ModelCall): Promise<void> {
    const { admissions, partition } = this.#options;
    const backlog = this.#backlogOf(call);
    const { info } = backlog;
    const { entry, score } = call;
    if (!backlog.waiting.has(call)) {
      backlog.waiting.add(call);
      const isSecond = info.limits.some(({ kind }) => kind === 'run') && this.#runs.has(call.run);
      if (isSecond) call.score -= 1_000_000_000;
    }
    this.#before = now();
    const { isAdmitted, progress } = await admissions.admit(partition, [
      { entry, executions: 1, score, backlog: backlog.id, info },
    ]);
    const isOwn = progress.admitted.some((item) => item.entry === entry);
    if (isAdmitted[0] && !isOwn) this.#grant(call);
    this.#follow(progress);
    expect(call.state === 'holds' || call.state === 'lost').to.equal(isAdmitted[0], `${entry} is admitted`);
  }

  async #releaseOne(): Promise<void> {
    const call = this.#some('holds');
    if (!call) return;
    const { admissions, partition } = this.#options;
    call.state = 'done';
    this.#drop(call.entry);
    this.#before = now();
    const executions = this.#random() < 0.5 ? 1 : undefined;
    this.#follow(await admissions.release(partition, call.entry, { executions }));
    if (this.#random() < 0.1) {
      this.#before = now();
      // The execution that has the call gives its permits back, no other.
      this.#follow(await admissions.release(partition, call.entry, { executions: 2 }));
    }
    this.#runs.get(call.run)?.open.delete(call.entry);
  }

  /** @returns false: no run has limits of whole runs */
  async endRun(): Promise<boolean> {
    const [run] = [...this.#runs].find(([, { open }]) => open.size === 0) ?? [];
    if (run === undefined) return false;
    const { admissions, partition } = this.#options;
    this.#runs.delete(run);
    this.#drop(run);
    this.#before = now();
    this.#follow(await admissions.release(partition, run));
    return true;
  }

  async #withdrawOne(): Promise<void> {
    const call = this.#some('waits');
    if (!call) return;
    const { admissions, partition } = this.#options;
    call.state = 'done';
    this.#backlogOf(call).waiting.delete(call);
    this.#runs.get(call.run)?.open.delete(call.entry);
    this.#before = now();
    this.#follow(await admissions.withdraw(partition, call.backlog, [call.entry]));
  }

  /** As after a deploy: one backlog after the other. */
  async #changeSize(): Promise<void> {
    const { admissions, partition } = this.#options;
    const id = this.#pick(['s0', 's1', 's2', 's3', 'r0', 'r1', 'r2']);
    const size = this.#pick(SIZES);
    const changed = this.backlogs.filter(({ info }) => info.limits.some((other) => other.id === id));
    for (const backlog of changed) {
      const limits = backlog.info.limits.map((limit) => (limit.id === id ? { ...limit, limit: size } : limit));
      backlog.info = { ...backlog.info, limits };
      this.#before = now();
      this.#follow(await admissions.change(partition, backlog.id, backlog.info));
    }
  }

  /** The call waits by another configuration. */
  async #move(): Promise<void> {
    const call = this.#some('waits');
    if (!call) return;
    const { admissions, partition } = this.#options;
    const from = this.#backlogOf(call);
    const to = this.#pick(this.backlogs);
    if (to === from) return;
    from.waiting.delete(call);
    call.backlog = to.id;
    await this.#admit(call);
    this.#before = now();
    this.#follow(await admissions.withdraw(partition, from.id, [call.entry]));
  }

  /** Timers that are due, and what a script has left. */
  async #goOn(isLast = false): Promise<void> {
    const { admissions, partition } = this.#options;
    const due = isLast ? this.#timers.splice(0) : this.#timers.filter(({ at }) => at <= Date.now());
    for (const timer of due) this.#timers.splice(this.#timers.indexOf(timer) >>> 0, 1);
    for (const limit of [...due.map((timer) => timer.limit), ...this.#unfinished.splice(0)]) {
      this.#before = now();
      this.#follow(await admissions.advance(partition, limit));
    }
  }

  async #check(): Promise<void> {
    const { admissions, partition, makeChecksDue } = this.#options;
    await makeChecksDue();
    for (const check of await admissions.claimChecks(partition)) {
      await this.#carryOut(check);
      await admissions.doneChecking(partition, check);
    }
  }

  async #carryOut(check: DueCheck): Promise<void> {
    const { admissions, partition } = this.#options;
    if (check.kind === 'function') return;
    if (check.kind === 'limit') {
      this.#before = now();
      this.#follow(await admissions.advance(partition, check.limit));
      return;
    }
    const { entry, claimedUntil } = check;
    const call = this.calls.get(entry);
    const isLive = call ? call.state === 'holds' : this.#runs.has(entry);
    if (isLive) return admissions.keep(partition, check, 0);
    this.#drop(entry);
    if (call?.state === 'lost') call.state = 'returned';
    this.#before = now();
    this.#follow(await admissions.release(partition, entry, { claimedUntil }));
  }

  /** What a script says to its client, which may die before it acts on it. */
  #follow({ admitted, throttles, unfinished }: Progress): void {
    const isForgotten = this.#random() < 0.02;
    for (const { entry, env, functionId } of admitted) {
      const call = this.calls.get(entry);
      if (!call) throw new Error(`${entry} is unknown`);
      const { info } = this.#backlogOf(call);
      expect({ env, functionId }).to.deep.equal({ env: info.env, functionId: info.functionId });
      this.#grant(call);
      if (isForgotten) call.state = 'lost';
    }
    if (isForgotten) return;
    this.#timers.push(...throttles);
    this.#unfinished.push(...unfinished);
  }

  #grant(call: ModelCall): void {
    const { entry, run } = call;
    const backlog = this.#backlogOf(call);
    expect(call.state).to.equal('waits', `${entry} is admitted once`);
    for (const other of backlog.waiting) {
      if (other !== call)
        expect(isBefore(call, other), `${entry} before ${other.entry} in ${backlog.id}`).to.equal(true);
    }
    backlog.waiting.delete(call);
    call.state = 'holds';
    for (const limit of backlog.info.limits) this.#take(limit, entry, run);
  }

  #take({ id, kind, limit, intervalMs = 0, toleranceMs = 0 }: BacklogLimit, entry: string, run: string): void {
    if (kind === 'throttle') {
      this.#start(id, intervalMs, toleranceMs);
      return;
    }
    const holders = this.#holders.get(id) ?? new Set();
    this.#holders.set(id, holders);
    if (kind === 'run') {
      const known = this.#runs.get(run) ?? { env: ENV, limits: new Set(), open: new Set() };
      this.#runs.set(run, known);
      known.limits.add(id);
      known.open.add(entry);
      if (holders.has(run)) return;
    }
    holders.add(kind === 'run' ? run : entry);
    expect(holders.size, `permits of ${id}`).to.be.at.most(limit);
  }

  #start(id: string, interval: number, tolerance: number): void {
    const starts = this.#starts.get(id) ?? [];
    this.#starts.set(id, starts);
    const after = now();
    starts.push({ before: this.#before, after });
    const atOnce = Math.round(tolerance / interval) + 1;
    for (let n = Math.max(0, starts.length - ANCHORS); n < starts.length; n++) {
      const elapsed = after - (starts[n]?.before ?? 0);
      expect(starts.length - n, `starts of ${id}`).to.be.at.most(atOnce + elapsed / interval);
    }
  }

  #drop(holder: string): void {
    for (const holders of this.#holders.values()) holders.delete(holder);
  }

  #backlogOf({ backlog }: ModelCall): ModelBacklog {
    return this.backlogs.find(({ id }) => id === backlog) as ModelBacklog;
  }

  #some(state: State): ModelCall | undefined {
    const found = [...this.calls.values()].filter((call) => call.state === state);
    return found.length === 0 ? undefined : this.#pick(found);
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }
}
