/** One duty in one process: a round in all partitions at the same time, a pause, the next round. */
import type { Logger } from '../log.ts';
import type { MetricsRecorder } from '../metrics/recorder.ts';
import { Composed } from '../model/values/composed.ts';
import type { Locks } from '../store/redis/locks.ts';
import type { BoundDuty } from './duty.ts';
import { Failures } from './failures.ts';
import type { Time } from './time.ts';

export interface LoopDeps {
  locks: Pick<Locks, 'withLock'>;
  /** The partitions of this worker. */
  partitions: () => readonly number[];
  recorder: Pick<MetricsRecorder, 'dutyRound'>;
  log: Logger;
  time: Time;
}

/** `starting`: no round has ended yet. */
export const DUTY_STATES = ['starting', 'ok', 'failing'] as const;

export interface DutyState {
  name: string;
  state: (typeof DUTY_STATES)[number];
}

export class DutyLoop extends Composed<LoopDeps & { duty: BoundDuty }> {
  readonly #failures = new Failures({ duty: this.deps.duty.name, log: this.deps.log });
  readonly #closing = new AbortController();
  #pause = new AbortController();
  /** Each is called at the end of a round that has not begun yet. */
  #requests: (() => void)[] = [];
  #hasDoneRound = false;
  #loop: Promise<void> = Promise.resolve();

  get state(): DutyState {
    const state = this.#failures.any ? 'failing' : this.#hasDoneRound ? 'ok' : 'starting';
    return { name: this.deps.duty.name, state };
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Resolves when a round that begins from now on has ended. */
  async runNow(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const done = Promise.withResolvers<void>();
    this.#requests.push(done.resolve);
    this.#pause.abort();
    await done.promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#pause.abort();
    await this.#atMost(this.#loop);
    await this.#atMost(this.deps.duty.end());
  }

  async #run(): Promise<void> {
    const { firstAfterMs } = this.deps.duty;
    if (firstAfterMs > 0) await this.#sleep(firstAfterMs);
    while (!this.#closing.signal.aborted) {
      const requests = this.#requests;
      this.#requests = [];
      const delayMs = await this.#round();
      this.#hasDoneRound = true;
      for (const done of requests) done();
      // Jitter, so that several processes do not run it at the same moment.
      await this.#sleep(delayMs * (0.75 + this.deps.time.random() / 2));
    }
    for (const done of this.#requests) done();
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#requests.length > 0 || this.#closing.signal.aborted) return;
    this.#pause = new AbortController();
    await this.deps.time.sleep(ms, this.#pause.signal);
  }

  async #round(): Promise<number> {
    const partitions = this.deps.duty.scope === 'partition' ? this.deps.partitions() : [0];
    this.#failures.keep(partitions);
    const delays = await Promise.all(partitions.map((partition) => this.#roundIn(partition)));
    return delays.length === 0 ? this.deps.duty.everyMs : Math.min(...delays);
  }

  /** @returns milliseconds until the next round */
  async #roundIn(partition: number): Promise<number> {
    const { name, everyMs } = this.deps.duty;
    const { recorder, time } = this.deps;
    const startedAt = time.now();
    try {
      const result = await this.#withLease(partition, (signal) => this.deps.duty.doRound({ partition, signal }));
      if (result.isDone) recorder.dutyRound(name, 'completed', time.now() - startedAt);
      this.#failures.succeeded(partition);
      return result.nextMs ?? everyMs;
    } catch (error) {
      // Shutdown interrupts rounds.
      if (this.#closing.signal.aborted) return everyMs;
      recorder.dutyRound(name, 'failed', time.now() - startedAt);
      return this.#failures.failed(partition, error as Error, everyMs);
    }
  }

  /** Does nothing while another process has the lease. */
  async #withLease(
    partition: number,
    work: (signal: AbortSignal) => Promise<number | undefined>,
  ): Promise<{ isDone: boolean; nextMs?: number | undefined }> {
    const { name, scope, leaseMs } = this.deps.duty;
    const { signal } = this.#closing;
    if (leaseMs === undefined) return { isDone: true, nextMs: await work(signal) };
    const lease = scope === 'partition' ? `${name}:${partition}` : name;
    let nextMs: number | undefined;
    const isDone = await this.deps.locks.withLock(lease, leaseMs, async (lost) => {
      nextMs = await work(AbortSignal.any([signal, lost]));
    });
    return { isDone, nextMs };
  }

  /** Waits for the last round, for at most the time that it may take. */
  async #atMost(work: Promise<unknown>): Promise<void> {
    const { lastRoundMs } = this.deps.duty;
    const settled = work.catch((error: Error) => {
      this.deps.log.debug({ duty: this.deps.duty.name, err: error.message }, 'a duty did not end in order');
    });
    if (lastRoundMs === Number.POSITIVE_INFINITY) return void (await settled);
    const waiting = new AbortController();
    await Promise.race([settled, this.deps.time.sleep(lastRoundMs, waiting.signal)]);
    waiting.abort();
  }
}
