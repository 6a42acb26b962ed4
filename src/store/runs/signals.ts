/** Signals that steps wait for. A signal is a wait found by its name alone, with at most one waiting step. Like other waits it is removed
 *  when its step or run ends (waits.ts). */
import { hasEnded, type RunStatus } from '../../model/runs/run.ts';
import { runOfWait, waitKey } from '../../model/runs/wait.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { replies } from '../redis/connection/connection.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { writeLocal, writeRemote } from './wait-location.ts';
import { ttlOf } from './waits.ts';

/** A step of a run. */
export interface StepRef {
  runId: string;
  stepId: string;
}

export interface NewSignal extends StepRef {
  env: string;
  signal: string;
  /** Timeout of the wait, Unix milliseconds; undefined: none. */
  until?: number | undefined;
  /** Takes the signal over from another waiting step. */
  replaces: boolean;
}

/** `replaced`: the step that waited before. `taken`: another step waits for the signal. `ended`: the run has ended. */
export type SignalOutcome = { outcome: 'stored'; replaced: StepRef | undefined } | { outcome: 'taken' | 'ended' };

export class Signals extends Repository<ScriptedRedis, { offloadedRuns: OffloadedRuns }> {
  /** Idempotent. Registers the wait with its run first, so that the run's end removes it. */
  async add({ env, signal, until, replaces, ...step }: NewSignal, nowMs: number): Promise<SignalOutcome> {
    const key = waitKey(step);
    const ofRun = this.keys.of(step.runId);
    const [homeKeys, ...former] = this.keys.homesOf(env, signal);
    const stored = homeKeys.signal(env, signal);
    const location =
      homeKeys === ofRun
        ? writeLocal(stored)
        : writeRemote({ byName: stored, byValue: stored, paths: stored, path: '' });
    const registered = await this.redis.registerWait(ofRun.run(env, step.runId), key, location);
    if (registered === 0) return { outcome: 'ended' };
    let replaced: StepRef | undefined;
    for (const keys of former) {
      const [holder] = await this.redis.hkeys(keys.signal(env, signal));
      if (holder === undefined || holder === key) continue;
      const waits = await this.#isWaiting(env, holder);
      if (waits && !replaces) return this.#leave(env, key);
      await this.#remove(env, holder, keys.signal(env, signal));
      if (waits) replaced = stepOf(holder);
    }
    for (let holder = ''; ; ) {
      const other = (await this.redis.takeSignal(stored, key, ttlOf({ until }, nowMs), holder)) as string | null;
      if (other === null) return { outcome: 'stored', replaced };
      const waits = await this.#isWaiting(env, other);
      if (waits && !replaces) return this.#leave(env, key);
      if (waits) replaced = stepOf(other);
      const runId = runOfWait(other);
      await this.redis.removeWait(this.keys.of(runId).run(env, runId), other);
      holder = other;
    }
  }

  /** The step that waits for the signal. */
  async waiting(env: string, signal: string): Promise<StepRef | undefined> {
    for (const keys of this.keys.homesOf(env, signal)) {
      const [key] = await this.redis.hkeys(keys.signal(env, signal));
      if (key !== undefined) return stepOf(key);
    }
    return undefined;
  }

  /** Removes the wait of a signal. */
  async remove(env: string, signal: string, step: StepRef): Promise<void> {
    for (const keys of this.keys.homesOf(env, signal)) {
      await this.#remove(env, waitKey(step), keys.signal(env, signal));
    }
  }

  async #remove(env: string, key: string, stored: string): Promise<void> {
    await this.redis.hdel(stored, key);
    const runId = runOfWait(key);
    await this.redis.removeWait(this.keys.of(runId).run(env, runId), key);
  }

  async #leave(env: string, key: string): Promise<SignalOutcome> {
    const runId = runOfWait(key);
    await this.redis.removeWait(this.keys.of(runId).run(env, runId), key);
    return { outcome: 'taken' };
  }

  /** The process that finished the step may have died before it removed the wait. */
  async #isWaiting(env: string, key: string): Promise<boolean> {
    const { runId, stepId } = stepOf(key);
    const { run, memos } = this.keys.of(runId);
    const reading = this.redis.pipeline().hget(run(env, runId), RUN_FIELDS.status).hexists(memos(env, runId), stepId);
    const [status, hasMemo] = replies<unknown>(await reading.exec()) as [RunStatus | null, number];
    if (status === null) return (await this.deps.offloadedRuns.which(env, [runId])).has(runId);
    return !hasEnded({ status }) && hasMemo === 0;
  }
}

function stepOf(key: string): StepRef {
  const runId = runOfWait(key);
  return { runId, stepId: key.slice(runId.length + 1) };
}
