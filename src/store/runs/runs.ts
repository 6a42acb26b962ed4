/** Runs. A run's record is created once under its derived ID, which makes repeated work on it idempotent. It lives until the run has
 *  ended, and then for the retention. */
import { type Pin, pinText } from '../../model/apps/versions.ts';
import { recordOf } from '../../model/events/event.ts';
import { readEvent } from '../../model/events/event-encoding.ts';
import { FUNCTION_FINISHED } from '../../model/events/lifecycle.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import { MAX_STATE_BYTES, MAX_STEPS, type Memo, type Pending, type StateLimit } from '../../model/runs/memo.ts';
import type { Ending, HistoryEntry, Run, RunError } from '../../model/runs/run.ts';
import { locationOf } from '../events/event-location.ts';
import type { BucketWrite } from '../events/event-records.ts';
import { PLANNING_FIELD, RUN_FIELDS } from '../keys/run-fields.ts';
import { replies } from '../redis/connection/connection.ts';
import { fromFlat } from '../redis/connection/scripts.ts';
import { type JobTaker, toFinished } from '../redis/job-lists.ts';
import { memberOf } from './active-runs.ts';
import { segmentSize } from './ended-run-index.ts';
import { addEventRuns } from './event-runs.ts';
import { encodeHistoryEntry } from './history-entries.ts';
import type { CallOf, Loaded, LoadedState } from './loaded-run.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { type CreateReply, type Creation, createInPartition } from './run-creation.ts';
import { type EndOptions, type EndReply, type LeftOver, type RefusedEnd, toRemoteWaits } from './run-end.ts';
import { RunReads } from './run-reads.ts';
import { toPending, toRun } from './run-record.ts';
import { endingFields, type NewRun, portionsOf } from './run-writing.ts';
import type { Waits } from './waits.ts';

/** Number of the first argument of end-run.lua that is a field. */
const FIRST_FIELD_OF_END = 19;
const ARGS_OF_STEP = 3;

/** The events that trigger runs, all new. */
export interface NewEvents {
  write: BucketWrite;
  /** Version of the functions with which the events were matched. */
  functionsVersion: number;
}

export interface RunsDeps {
  waits: Waits;
  offloadedRuns: OffloadedRuns;
  retentionMs: number;
  segmentSize?: number | undefined;
}

export class Runs extends RunReads<RunsDeps> {
  /** Creates each run that does not exist yet, and adds the jobs that come with them.
   *  @param takerOf the worker of a partition that may take some of the jobs
   *  @returns by run ID, the state that each started first call finds */
  async create(
    runs: readonly NewRun[],
    takerOf?: (partition: number) => JobTaker<Loaded> | undefined,
  ): Promise<ReadonlyMap<string, Loaded>> {
    const started = new Map<string, Loaded>();
    // Runs of an event are in its partition, and so are all runs of an ingest job.
    for (const [keys, some] of Map.groupBy(runs, ({ id }) => this.keys.of(id))) {
      const inPartition = await createInPartition(
        keys,
        some,
        this.deps.retentionMs,
        takerOf?.(keys.number),
        async (creations) => {
          const pipeline = this.redis.pipeline();
          for (const { keys, args } of creations) pipeline.createRuns(...keys, ...args);
          return replies<CreateReply>(await pipeline.exec());
        },
      );
      for (const [id, loaded] of inPartition ?? []) started.set(id, loaded);
    }
    for (const { env, id: runId, queuedAt, eventId, batch } of runs) {
      const eventIds = batch?.filter((id) => id !== eventId);
      if (eventIds) await this.listUnder({ env, runId, queuedAt, eventIds });
    }
    return started;
  }

  /** Like `create`, and stores the events that trigger the runs in the same script, which saves a round trip. Creates nothing if an event
   *  was stored before, if the functions of the environment have another version, or if one script is not enough.
   *  @returns undefined: nothing was created */
  async createWithEvents(
    runs: readonly NewRun[],
    { write, functionsVersion }: NewEvents,
    takerOf: (partition: number) => JobTaker<Loaded> | undefined,
  ): Promise<ReadonlyMap<string, Loaded> | undefined> {
    const [first, ...others] = portionsOf(runs);
    if (!first || others.length > 0) return undefined;
    const [{ id, env }] = first;
    const keys = this.keys.of(id);
    return createInPartition(keys, runs, this.deps.retentionMs, takerOf(keys.number), async (creations) => {
      const [creation] = creations as [Creation];
      const { bucket, ttlMs, args } = write;
      const events = [functionsVersion, ttlMs, args.length / 2, ...args];
      const version = this.keys.functionsVersion(env);
      const reply = await this.redis.createRunsWithEvents(
        version,
        bucket,
        ...creation.keys,
        ...events,
        ...creation.args,
      );
      return reply === null ? undefined : [reply as CreateReply];
    });
  }

  /** Lists a run under events, once each. */
  async listUnder(run: { env: string; runId: string; queuedAt: number; eventIds: readonly string[] }): Promise<void> {
    await addEventRuns(this.redis, this.keys, run, this.deps.retentionMs);
  }

  /** Copies the finished steps that a re-run from a step begins with. Idempotent; both runs are in one partition.
   *  @param isRestored whether the first run is archived and its steps are restored (restored-steps.ts)
   *  @returns the number of finished steps; undefined if the first run is no longer stored */
  async copySteps(
    { env, id, retryOf, fromStep }: Pick<Run, 'env' | 'id' | 'retryOf' | 'fromStep'>,
    nowMs: number,
    isRestored = false,
  ): Promise<number | undefined> {
    if (retryOf === undefined || fromStep === undefined) return 0;
    const keys = this.keys.of(id);
    // Official SDKs accept input only for a step that is called by itself.
    const step: Pending = { op: 'StepPlanned', name: fromStep.id, since: nowMs };
    const planned = fromStep.input ? JSON.stringify(step) : '';
    const copied = (await this.redis.copySteps(
      isRestored ? keys.restoredRun(env, retryOf) : keys.run(env, retryOf),
      keys.run(env, id),
      fromStep.id,
      planned,
    )) as number;
    return copied === -1 ? undefined : copied;
  }

  /** Begins a call if it is due, reads what the call needs, and ends the sleep before it. */
  async load(call: CallOf, attempt: number, nowMs: number, reconcileAt: number): Promise<LoadedState> {
    const { env, runId, eventId, finishedSteps, stepId, sleep } = call;
    const location = locationOf(this.keys, env, eventId);
    const keys = this.keys.of(runId);
    const reply = (await this.redis.loadCall(
      keys.run(env, runId),
      location.bucket,
      location.overflow,
      keys.activeRuns,
      keys.heldFunctions(env),
      nowMs,
      attempt,
      this.deps.retentionMs,
      memberOf(env, runId),
      reconcileAt,
      finishedSteps ?? '',
      stepId ?? '',
      location.field,
      sleep ?? '',
    )) as [
      outcome: LoadedState['state'] | 'gone',
      run: string,
      event: string | null,
      stack: string[],
      memos: string,
      pending: number,
      planOnly: number,
      step: string | null,
      omitsMemos: number,
    ];
    const [outcome, run, event, stack, memos, pending, planOnly, step, omitsMemos] = reply;
    if (outcome === 'gone' || outcome === 'superseded') return { state: 'superseded' };
    if (outcome === 'sleeps') return { state: outcome };
    const loadedRun = toRun(env, runId, JSON.parse(run) as Record<string, string>);
    if (outcome === 'ended' || outcome === 'held' || outcome === 'paused') return { state: outcome, run: loadedRun };
    if (outcome === 'nextCallDue') return { state: outcome, run: loadedRun, finishedSteps: Number(event) };
    return {
      state: 'due',
      run: loadedRun,
      event: event === null ? undefined : recordOf(readEvent(eventId, event)),
      stack,
      memos: JSON.parse(memos) as Record<string, Memo>,
      ...(omitsMemos === 1 && { omitsMemos: true }),
      pending,
      planOnly: planOnly === 1,
      ...(step && { step: JSON.parse(step) as Pending }),
    };
  }

  /** Records that the call with this number of finished steps has planned its steps, so that later calls no longer wait for it. */
  async donePlanning(env: string, id: string, finishedSteps: number): Promise<void> {
    await this.redis.hdel(this.keys.of(id).run(env, id), PLANNING_FIELD + finishedSteps);
  }

  /** Records the error of an attempt that will be retried. Does nothing if the run has ended. */
  async recordError(env: string, id: string, error: RunError): Promise<void> {
    await this.redis.recordError(this.keys.of(id).run(env, id), JSON.stringify(error));
  }

  /** The history lives no longer than the run, even if the run has ended in the meantime. */
  async appendHistory(env: string, id: string, entries: readonly HistoryEntry[]): Promise<void> {
    await this.redis.appendHistory(this.keys.of(id).run(env, id), ...entries.map(encodeHistoryEntry));
  }

  /** Freezes the values from the event that the limits of the run's function need. */
  async setKeys(env: string, id: string, keys: FrozenKeys): Promise<void> {
    const key = this.keys.of(id).run(env, id);
    if (await this.redis.exists(key)) await this.redis.hset(key, RUN_FIELDS.keys, JSON.stringify(keys));
  }

  /** Records that the response to the call with this number of finished steps was applied. Does nothing if the run is gone. */
  async recordAnswered(env: string, id: string, finishedSteps: number): Promise<void> {
    await this.redis.recordAnswered(this.keys.of(id).run(env, id), finishedSteps);
  }

  /** The position at which the run continues. `answeredAt`: number of finished steps of the last answered call; -1: none. `racedAt`: number
   *  of finished steps when a race-mode step last ended while others were pending; -1: never. `owner`: who stored the last of the given
   *  number of finished steps, and owns this state; undefined: the next call. */
  async position(
    env: string,
    id: string,
    finishedSteps: number,
  ): Promise<{ answeredAt: number; racedAt: number; owner?: string }> {
    const { answeredAt, racedAt, checkpoint } = RUN_FIELDS;
    const key = this.keys.of(id).run(env, id);
    const [answered, raced, stored] = await this.redis.hmget(key, answeredAt, racedAt, checkpoint);
    const prefix = `${finishedSteps}:`;
    return {
      answeredAt: Number(answered ?? -1),
      racedAt: Number(raced ?? -1),
      ...(stored?.startsWith(prefix) && { owner: stored.slice(prefix.length) }),
    };
  }

  /** Ends the run; the first ending is kept.
   *  @returns undefined if it had ended before or does not exist */
  async end(
    run: Pick<Run, 'env' | 'id' | 'functionId'>,
    ending: Ending,
    nowMs: number,
    { hasJobs = false, startedDefers = 0, job, history, steps = [] }: EndOptions = {},
  ): Promise<LeftOver | RefusedEnd | undefined> {
    const { env, id, functionId } = run;
    const keys = this.keys.of(id);
    const [home] = this.keys.homesOf(env, FUNCTION_FINISHED);
    const key = keys.run(env, id);
    const fields = endingFields(ending, nowMs);
    const [ended, done = 0, begun = [], keysWithWaits = 0, apart = [], end = []] = (await this.redis.endRun(
      key,
      keys.activeRuns,
      keys.activeRunsIn(env),
      keys.runIndex(env, 'active', functionId),
      keys.runIndex(env, ending.status, functionId),
      keys.endedRunMinutes(env, ending.status),
      keys.waits(env, FUNCTION_FINISHED),
      keys.waitPaths(env, FUNCTION_FINISHED),
      keys.unfinishedEnds,
      job?.key ?? key,
      id,
      this.deps.retentionMs,
      memberOf(env, id),
      nowMs,
      keys.endedRuns(env, ending.status, ''),
      this.deps.segmentSize ?? segmentSize(this.keys),
      startedDefers,
      hasJobs ? 1 : '',
      job?.id ?? '',
      job?.token ?? '',
      job?.lockMs ?? '',
      job?.takesNext ? 1 : '',
      home === keys ? '' : 1,
      FIRST_FIELD_OF_END + fields.length + ARGS_OF_STEP * steps.length,
      history?.onlyAfterCheckpoints ? 1 : '',
      steps.length,
      MAX_STEPS,
      MAX_STATE_BYTES,
      ...fields,
      ...steps.flatMap(({ id: stepId, memo }) => [stepId, memo, '']),
      ...(history?.entries ?? []).map(encodeHistoryEntry),
    )) as EndReply;
    if (ended === 2) return 'defers';
    if (ended === 3) return done as StateLimit;
    if (ended !== 1) return undefined;
    if (apart.length > 0) await this.deps.waits.removeRemote(toRemoteWaits(apart));
    const pending = toPending(fromFlat(begun));
    const finished = toFinished(end);
    // Nothing that may fail comes before the worker knows the next job, which it holds already.
    if (finished) return { done: Number(done), pending, isUnfinished: home !== keys, awaited: undefined, finished };
    const awaited = keysWithWaits > 0 || (home !== keys && (await this.deps.waits.areAny(env, FUNCTION_FINISHED)));
    return { done: Number(done), pending, isUnfinished: hasJobs || pending.size > 0, awaited };
  }

  /** Changes the version on which an active run ends.
   *  @param pin undefined: the run continues with the active version
   *  @returns false: it has ended, or does not exist */
  async move(env: string, id: string, pin: Pin | undefined): Promise<boolean> {
    const keys = this.keys.of(id);
    return (await this.redis.moveRun(keys.run(env, id), keys.activeRunsIn(env), id, pin ? pinText(pin) : '')) === 1;
  }
}
