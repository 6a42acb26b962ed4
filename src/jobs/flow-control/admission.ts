/** Admission of calls: a call of a function with limits gets its job once it has a permit of each, and until then waits in Redis, outside
 *  of the queues. Concurrency limits count from the admission of a call (or of a run) to its end; a throttle counts starts of runs. A held
 *  function has a limit of 0. The permits of an ended call go to the next call. Every step can be repeated: an admission without a job is
 *  found by its check (admission-checks.ts). */

import type { MetricsRecorder } from '../../metrics/recorder.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { homesOf } from '../../model/flow-control/limits.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Admissions, AdmittedCall, EndedCall, Progress } from '../../store/flow-control/admissions.ts';
import type { BacklogInfo } from '../../store/flow-control/backlog-info.ts';
import { type CallToSchedule, callOf, callOfEntry, callRefOf, entryOf } from '../queues/call-ref.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import type { Admitted, TracedRunRef } from '../queues/queues.ts';
import {
  hasLimits,
  type LimitedCall,
  LimitedCalls,
  type LimitedCallsDeps,
  limitsContinuing,
  toAdmit,
} from './limited-calls.ts';

/** A call that may get its job now. */
export interface AdmittedCallToSchedule extends CallToSchedule {
  /** Partition of its limits, and time of admission (Unix milliseconds); undefined if it has no limits. */
  admitted?: Admitted;
  /** Whether the call has waited: its job may exist with a long delay. */
  hasWaited?: boolean;
}

/** Maximum number of calls moved per round after a change of configuration. */
const MOVED_AT_ONCE = 500;

type StartCalls = (calls: readonly AdmittedCallToSchedule[]) => Promise<void>;

export interface AdmissionDeps extends LimitedCallsDeps {
  admissions: Admissions;
  queues: PartitionQueues;
  recorder: Pick<MetricsRecorder, 'startThrottled'>;
}

export class Admission extends Composed<AdmissionDeps> {
  readonly #limitedCalls = new LimitedCalls(this.deps);

  /** @param executions number of executions of the jobs; 1: the calls have no jobs yet
   *  @returns the admitted calls among these, and other calls admitted with them */
  async admit(calls: readonly CallToSchedule[], executions = 1): Promise<AdmittedCallToSchedule[]> {
    const free: AdmittedCallToSchedule[] = [];
    const limited: LimitedCall[] = [];
    for (const call of calls) {
      // Limits apply once the call is due.
      const found = call.delayMs !== undefined && call.delayMs > 0 ? undefined : await this.#limitedCalls.of(call);
      if (found) limited.push(found);
      else free.push(call);
    }
    if (limited.length === 0) return free;
    return [...free, ...(await this.#admitLimited(limited, executions))];
  }

  /** Whether the call has limits.
   *  @param ref `started`: the run has started, so limits of its start no longer apply */
  async isLimited({ env, functionId, started }: TracedRunRef): Promise<boolean> {
    const fn = await this.deps.functions.find(env, functionId);
    return fn !== undefined && (started ? limitsContinuing(fn) : hasLimits(fn));
  }

  /** Releases the permits of an ended call or run. @returns the calls admitted next */
  async release(partition: number, entry: string): Promise<AdmittedCallToSchedule[]> {
    return this.#follow(await this.deps.admissions.release(partition, entry));
  }

  async releaseAll(partition: number, ended: readonly EndedCall[]): Promise<AdmittedCallToSchedule[]> {
    return this.#follow(await this.deps.admissions.releaseAll(partition, ended));
  }

  /** Releases permits of an admission whose job was not found. */
  async releaseLost(partition: number, entry: string, claimedUntil: number): Promise<AdmittedCallToSchedule[]> {
    return this.#follow(await this.deps.admissions.release(partition, entry, { claimedUntil }));
  }

  /** Admits calls that wait for the limit. A timer may be early by Redis's clock; the next timer has another ID. */
  async advance(partition: number, limit: string): Promise<AdmittedCallToSchedule[]> {
    return this.#follow(await this.deps.admissions.advance(partition, limit), `-${this.deps.clock()}`);
  }

  /** Releases the permits of an ended run, and withdraws its waiting calls. */
  async endRun(run: Run, calls: readonly CallToSchedule[]): Promise<AdmittedCallToSchedule[]> {
    const fn = await this.deps.functions.find(run.env, run.functionId);
    const options = fn && flowOptionsOf(fn);
    if (!fn || !hasLimits(fn)) return [];
    const ready: AdmittedCallToSchedule[] = [];
    if (options && options.runConcurrency.length > 0) {
      for (const partition of this.#partitionsOf(run.env, fn.id))
        ready.push(...(await this.release(partition, run.id)));
    }
    for (const call of calls) {
      const limited = await this.#limitedCalls.of(call, fn);
      if (!limited) continue;
      const { backlog, home } = limited.limits;
      const partition = this.deps.admissions.partitionOf(home);
      ready.push(
        ...(await this.#follow(await this.deps.admissions.withdraw(partition, backlog, [entryOf(callRefOf(call))]))),
      );
    }
    return ready;
  }

  /** Call when the configuration of functions, or whether they are held, has changed: waiting calls then wait under the new limits. */
  async noteChange(env: string, functionIds: readonly string[]): Promise<void> {
    const { admissions } = this.deps;
    for (const id of functionIds) await admissions.noteChange(homesOf(env, id), env, [id]);
  }

  /** Adapts backlogs to the current configuration of their function.
   *  @param isKnown whether every process knows the configuration: a process that does not would move starting calls back to a backlog, and
   *  nothing would enqueue them
   *  @param start gives calls their jobs */
  async adapt(
    partition: number,
    { env, functionId, isKnown }: { env: string; functionId: string; isKnown: boolean },
    start: StartCalls,
  ): Promise<void> {
    const { admissions } = this.deps;
    for (const { backlog, info } of await admissions.backlogsOf(partition, env, functionId)) {
      const changed = await this.#limitedCalls.presentInfo(backlog, info);
      if (changed) await start(await this.#follow(await admissions.change(partition, backlog, changed)));
      else if (isKnown) await this.#move(partition, backlog, info, start);
    }
  }

  isAdmitted(partition: number, entry: string): Promise<boolean> {
    return this.deps.admissions.isAdmitted(partition, entry);
  }

  #partitionsOf(env: string, functionId: string): Set<number> {
    return new Set(homesOf(env, functionId).map((home) => this.deps.admissions.partitionOf(home)));
  }

  async #admitLimited(limited: readonly LimitedCall[], executions: number): Promise<AdmittedCallToSchedule[]> {
    const { admissions } = this.deps;
    const byPartition = Map.groupBy(limited, ({ limits }) => admissions.partitionOf(limits.home));
    const found = await Promise.all(
      [...byPartition].map(async ([partition, some]) => {
        const { isAdmitted, progress } = await admissions.admit(
          partition,
          some.map((call) => toAdmit(call, executions)),
        );
        const admitted: Admitted = [partition, progress.askedAt];
        const own = some.flatMap(({ call }, i) => (isAdmitted[i] ? [{ ...call, admitted }] : []));
        const entries = new Set(own.map((call) => entryOf(callRefOf(call))));
        const others = progress.admitted.filter(({ entry }) => !entries.has(entry));
        return [...own, ...(await this.#follow({ ...progress, admitted: others }))];
      }),
    );
    return found.flat();
  }

  /** Returns the calls that a script has admitted, and sets the timers that the script asks for.
   *  @param suffix suffix of the timers' IDs */
  async #follow(progress: Progress, suffix = ''): Promise<AdmittedCallToSchedule[]> {
    const { admissions, queues, clock } = this.deps;
    const { partition, throttles, unfinished } = progress;
    const ready = await this.#callsOf(progress);
    const timers = throttles.map(({ limit, at }) => ({
      name: 'throttle',
      data: { kind: 'throttle' as const, limit, home: partition },
      opts: { jobId: `throttle-${limit}-${at}${suffix}`, delay: Math.max(0, at - clock()) },
    }));
    if (timers.length > 0) await queues.partition(partition).timers.addBulk(timers);
    for (const limit of new Set(unfinished)) {
      ready.push(...(await this.#follow(await admissions.advance(partition, limit))));
    }
    return ready;
  }

  async #callsOf({ partition, askedAt, admitted }: Progress): Promise<AdmittedCallToSchedule[]> {
    const ready: AdmittedCallToSchedule[] = [];
    for (const [env, some] of Map.groupBy(admitted, (call) => call.env)) {
      const ids = [...new Set(some.map(({ entry }) => callOfEntry(entry)?.runId ?? entry))];
      const runs = new Map((await this.deps.runs.readManyToChange(env, ids)).map((run) => [run.id, run]));
      for (const call of some) ready.push(...(await this.#callOf([partition, askedAt], call, runs)));
    }
    return ready;
  }

  async #callOf(
    admitted: Admitted,
    { env, functionId, entry }: AdmittedCall,
    runs: ReadonlyMap<string, Run>,
  ): Promise<AdmittedCallToSchedule[]> {
    const call = callOfEntry(entry);
    const run = call && runs.get(call.runId);
    // The run has ended while it waited, or its environment is deleted.
    if (!call || !run || hasEnded(run)) return this.release(admitted[0], entry);
    const fn = await this.deps.functions.find(env, functionId);
    if (run.startedAt === undefined && call.stepId === undefined && fn && flowOptionsOf(fn)?.throttle)
      this.deps.recorder.startThrottled(env, functionId);
    return [{ ...callOf(run, call, fn), admitted, hasWaited: true }];
  }

  /** Admits the calls of a backlog under the current configuration. A call in two backlogs for a moment is admitted once. */
  async #move(partition: number, backlog: string, info: BacklogInfo, start: StartCalls): Promise<void> {
    const { admissions } = this.deps;
    for (;;) {
      const waiting = await admissions.waiting(partition, backlog, MOVED_AT_ONCE);
      // If the function was paused or deployed again, another check handles that.
      if (waiting.length === 0 || (await this.#limitedCalls.presentInfo(backlog, info))) return;
      const entries = waiting.map(({ entry }) => entry);
      // The calls start before they leave the backlog: if this process dies in between, they are moved again. Those that no longer have
      // limits are recorded nowhere else.
      await start(await this.#admitWaiting(info.env, entries));
      const progress = await admissions.withdraw(partition, backlog, entries);
      await start(await this.#follow(progress));
      if (await this.#limitedCalls.presentInfo(backlog, info)) {
        // The function was paused again in the meantime: jobs that just became due went to the backlog behind the removed entries.
        await start(await this.#admitWaiting(info.env, entries));
        return;
      }
    }
  }

  async #admitWaiting(env: string, entries: readonly string[]): Promise<AdmittedCallToSchedule[]> {
    const admitted = await this.admit(await this.#waitingCalls(env, entries));
    return admitted.map((call) => ({ ...call, hasWaited: true }));
  }

  async #waitingCalls(env: string, entries: readonly string[]): Promise<CallToSchedule[]> {
    const refs = entries.flatMap((entry) => callOfEntry(entry) ?? []);
    const runs = new Map(
      (await this.deps.runs.readManyToChange(env, [...new Set(refs.map(({ runId }) => runId))])).map((run) => [
        run.id,
        run,
      ]),
    );
    const calls: CallToSchedule[] = [];
    for (const ref of refs) {
      const run = runs.get(ref.runId);
      if (!run || hasEnded(run)) continue;
      calls.push(callOf(run, ref, await this.deps.functions.find(env, run.functionId)));
    }
    return calls;
  }
}
