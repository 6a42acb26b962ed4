/** Steps of a run: a finished step has a memo; a step that has begun and not finished is pending. */
import { MAX_STATE_BYTES, MAX_STEPS, type Memo, type Pending } from '../../model/runs/memo.ts';
import type { HistoryEntry, Run, StepLinks } from '../../model/runs/run.ts';
import { locationOf } from '../events/event-location.ts';
import { RUN_SUFFIXES } from '../keys/runs.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { fromFlat, type ScriptedRedis } from '../redis/connection/scripts.ts';
import {
  type FinishReply,
  type JobEnd,
  type JobEnding,
  toArguments,
  toFinished,
  type WaitingJob,
} from '../redis/job-lists.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from './active-runs.ts';
import { encodeHistoryEntry } from './history-entries.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { allPendingStepsOf, type PendingSteps, pendingStepsOf } from './pending-steps.ts';
import { toRun } from './run-record.ts';

/** Result of storing a memo. `wait`: the step while it was pending, and its history entry, unless a call ran it.
 *  `callAgain`: the function must be called again. `there`: an earlier memo is kept. `steps`, `bytes`: the run has too many. */
export type MemoOutcome =
  | { outcome: 'stored'; stackLength: number; run: Run; wait: StepWait | undefined; callAgain: boolean }
  | { outcome: 'there'; stackLength: number; run: Run; callAgain: boolean }
  | { outcome: 'steps' | 'bytes'; stackLength: number; run: Run }
  | { outcome: 'ended' | 'gone' };

export interface StepWait {
  step: Pending;
  entry: HistoryEntry;
}

/** Data about a result in addition to its memo. */
export interface ResultContext {
  /** Whether the step's operation asks for race mode. A pending step records this itself. */
  race?: boolean;
  /** Links for the step's history entry. */
  links?: StepLinks;
  /** Set for an invocation that reached its timeout. A wait that did so has no result. */
  timedOut?: true;
  /** The pending step as the caller read it, which saves a round trip. */
  pending?: Pending | undefined;
  /** The call whose response is this result alone. */
  call?: RespondingCall;
}

/** Data about a call that is recorded together with its only step. */
export interface RespondingCall {
  /** Number of finished steps that it was made with; undefined for the call of a planned step. */
  finishedSteps: number | undefined;
  history: readonly HistoryEntry[];
  /** The job of the next call, and the end of the call's own job: both are written with the step, if nothing else is to be done. */
  next?: { job: WaitingJob; end: JobEnd } | undefined;
}

type MemoReply = [
  outcome: MemoOutcome['outcome'] | 'waits',
  stackLength: number,
  run: string,
  was: string | null,
  due: number,
  end: FinishReply,
];

/** The call whose response is a sleep alone, and what follows it. */
export interface CallBeforeSleep {
  finishedSteps: number;
  history: readonly HistoryEntry[];
  /** The job of the call after the sleep, and the end of this call's job: both are written with the step, if the run waits for nothing else. */
  next?: { job: JobAfterSleep; end: JobEnd } | undefined;
}

export interface BegunSleep {
  begun: Pending | 'steps' | undefined;
  isScheduled: boolean;
  nextFinishedSteps: number | undefined;
}

/** The job of the call after a sleep. The number of finished steps, with which its ID ends and which is in its data, is known only once the
 *  step has begun. */
export interface JobAfterSleep extends WaitingJob {
  /** Unix milliseconds. */
  dueAt: number;
  /** The sleep is long: the reconciliation at this time adds the job, Unix milliseconds. */
  reconcileAt?: number;
}

/** The arguments of store-memo.lua for the two jobs. */
const JOB_ARGUMENTS = 9;

/** A step that begins. */
export interface BegunStep {
  stepId: string;
  step: Pending;
}

export class Steps extends Repository<ScriptedRedis, { retentionMs: number; offloadedRuns: OffloadedRuns }> {
  /** Stores the result of a step, with its history entry if it waited; an earlier memo of the same step is kept. The function must be called
   *  again if no other step is pending, or the step is in race mode.
   *  @param entryOf history entry of the step as it was pending */
  async memoize(
    env: string,
    runId: string,
    stepId: string,
    memo: Memo,
    entryOf: (step: Pending) => HistoryEntry,
    { race = false, pending, call }: ResultContext = {},
  ): Promise<MemoOutcome> {
    const key = this.keys.of(runId).run(env, runId);
    const given = [stepId, JSON.stringify(memo), MAX_STEPS, MAX_STATE_BYTES, +race];
    const store = async (waiting: string, entry?: HistoryEntry) => {
      const ending = call?.next?.end.begin();
      const ofCall = call
        ? [call.finishedSteps ?? '', ...argumentsOf(call.next?.job, ending), ...call.history.map(encodeHistoryEntry)]
        : [];
      return (await this.redis.storeMemo(
        key,
        ending?.key ?? key,
        ...given,
        waiting,
        entry ? encodeHistoryEntry(entry) : '',
        ...ofCall,
      )) as MemoReply;
    };
    let wait = pending && { step: pending, entry: entryOf(pending) };
    let reply = await store(pending ? JSON.stringify(pending) : '', wait?.entry);
    if (reply[0] === 'gone' && (await this.deps.offloadedRuns.bringBack(env, [runId]))) {
      reply = await store(pending ? JSON.stringify(pending) : '', wait?.entry);
    }
    while (reply[0] === 'waits') {
      const step = JSON.parse(reply[3] as string) as Pending;
      wait = { step, entry: entryOf(step) };
      reply = await store(reply[3] as string, wait.entry);
    }
    const [outcome, stackLength, fields, was, due, end = []] = reply;
    const finished = toFinished(end);
    if (finished) call?.next?.end.record(finished);
    if (outcome === 'ended' || outcome === 'gone') return { outcome };
    const run = toRun(env, runId, JSON.parse(fields) as Record<string, string>);
    const callAgain = due === 1 && !finished;
    if (outcome === 'there') return { outcome, stackLength, run, callAgain };
    if (outcome !== 'stored') return { outcome, stackLength, run };
    const hasWaited = was && (JSON.parse(was) as Pending).op !== 'StepPlanned';
    return { outcome, stackLength, run, callAgain, wait: hasWaited ? wait : undefined };
  }

  /** Records that a step has begun. The run's events are kept until the step is over; its next call keeps them longer.
   *  @returns the pending step recorded first; undefined: the step is finished, or the run has ended; 'steps': the run has too many */
  async begin(
    run: Pick<Run, 'env' | 'id' | 'eventId' | 'batch'>,
    stepId: string,
    step: Pending,
  ): Promise<Pending | 'steps' | undefined> {
    const [begun] = await this.beginAll(run, [{ stepId, step }]);
    return begun;
  }

  /** Records that several steps have begun, atomically.
   *  @returns for each, what `begin` returns */
  async beginAll(
    { env, id, eventId, batch = [] }: Pick<Run, 'env' | 'id' | 'eventId' | 'batch'>,
    begun: readonly BegunStep[],
  ): Promise<(Pending | 'steps' | undefined)[]> {
    const { bucket, field, overflow } = locationOf(this.keys, env, eventId);
    const keys = [this.keys.of(id).run(env, id), bucket, overflow];
    const ttlsMs = begun.map(({ step }) => this.#eventTtlMs(step));
    await this.#keepEvents(
      env,
      batch.filter((other) => other !== eventId),
      Math.max(...ttlsMs),
    );
    const steps = begun.flatMap(({ stepId, step }, i) => [stepId, JSON.stringify(step), ttlsMs[i] as number]);
    const replies = (await this.redis.beginSteps(...keys, field, MAX_STEPS, ...steps)) as string[];
    return replies.map((reply) => {
      if (reply === 'steps') return 'steps';
      return reply === '' ? undefined : (JSON.parse(reply) as Pending);
    });
  }

  /** Begins a sleep that is the whole response to a call, and records the call as answered.
   *  @returns what `begin` returns; whether the call's job has ended and the wake-up is scheduled; if not, and if the run waits for nothing
   *  else, the number of finished steps of the call after the sleep */
  async beginSleep(
    { env, id, eventId }: Pick<Run, 'env' | 'id' | 'eventId'>,
    stepId: string,
    step: Pending,
    { finishedSteps, history, next }: CallBeforeSleep,
  ): Promise<BegunSleep> {
    const { bucket, field, overflow } = locationOf(this.keys, env, eventId);
    const keys = this.keys.of(id);
    const run = keys.run(env, id);
    const ending = next?.end.begin();
    const [stored, end, nextFinishedSteps] = (await this.redis.beginSleep(
      run,
      bucket,
      overflow,
      keys.activeRuns,
      ending?.key ?? run,
      field,
      MAX_STEPS,
      stepId,
      JSON.stringify(step),
      this.#eventTtlMs(step),
      finishedSteps,
      ...(next ? afterSleep(next.job) : ['', '', '', '', '', '']),
      memberOf(env, id),
      ...endArguments(ending),
      ...history.map(encodeHistoryEntry),
    )) as [stored: string, end: FinishReply, nextFinishedSteps?: number];
    const finished = toFinished(end);
    if (finished) next?.end.record(finished);
    const isScheduled = finished !== undefined;
    if (stored === 'steps') return { begun: stored, isScheduled, nextFinishedSteps };
    return { begun: stored === '' ? undefined : (JSON.parse(stored) as Pending), isScheduled, nextFinishedSteps };
  }

  /** How long the events of a step stay. Half the retention is a margin for a late wake-up; with a larger one, the event of each sleep
   *  would need a key of its own. */
  #eventTtlMs({ since, until = since }: Pending): number {
    return Math.ceil(until - since + this.deps.retentionMs / 2);
  }

  async #keepEvents(env: string, ids: readonly string[], ttlMs: number): Promise<void> {
    await inPipelines(
      this.redis,
      ids.map((id) => {
        const { bucket, field, overflow } = locationOf(this.keys, env, id);
        return ['extendRetention', bucket, overflow, field, ttlMs];
      }),
    );
  }

  /** Records that the step's wait is fully stored, so that it can end. Does nothing if the step has ended. */
  async confirm({ env, id }: Pick<Run, 'env' | 'id'>, stepId: string, step: Pending): Promise<void> {
    if (!step.beginning) return;
    const { beginning, ...waiting } = step;
    const key = this.keys.of(id).pending(env, id);
    await this.redis.replaceField(key, stepId, JSON.stringify(step), JSON.stringify(waiting));
  }

  /** The pending steps, and the number of finished ones.
   *  @throws ServiceError archive_unavailable */
  async progress(env: string, runId: string): Promise<{ pending: Map<string, Pending>; done: number }> {
    const { pending, done } = await allPendingStepsOf(this.redis, this.keys, this.deps.offloadedRuns, {
      env,
      id: runId,
    });
    return { pending, done };
  }

  /** Pending steps in the order of the runs; of a run with many, only some. */
  progressOf(runs: readonly Pick<Run, 'env' | 'id'>[]): Promise<PendingSteps[]> {
    return pendingStepsOf(this.redis, this.keys, this.deps.offloadedRuns, runs);
  }

  /** The memo of a finished step, as JSON text; undefined if it is not finished. */
  async memo(env: string, runId: string, stepId: string): Promise<string | undefined> {
    const run = this.keys.of(runId).run(env, runId);
    const read = async () => (await this.redis.readPart(run, RUN_SUFFIXES.memos, stepId)) as string | null;
    const memo = await read();
    const { offloadedRuns } = this.deps;
    if (memo !== null || !offloadedRuns.mayExist) return memo ?? undefined;
    const offloaded = (await offloadedRuns.parts(env, [runId])).get(runId);
    // The run may have come back a moment ago.
    if (!offloaded) return (await read()) ?? undefined;
    const memos = fromFlat(offloaded.get(RUN_SUFFIXES.memos) ?? []);
    return Object.hasOwn(memos, stepId) ? memos[stepId] : undefined;
  }
}

/** The result is in the order of the arguments of store-memo.lua. */
function argumentsOf(next: WaitingJob | undefined, ending: JobEnding | undefined): (string | number)[] {
  if (!next || !ending) return Array.from({ length: JOB_ARGUMENTS }, () => '');
  return [...toArguments(next), ...endArguments(ending)];
}

function endArguments(ending: JobEnding | undefined): (string | number)[] {
  if (!ending) return ['', '', '', '', ''];
  const { id, token, nowMs, lockMs, takesNext } = ending;
  return [id, token, nowMs, lockMs, takesNext ? 1 : ''];
}

function afterSleep({ id, dueAt, name, data, options, reconcileAt }: JobAfterSleep): (string | number)[] {
  return [id, dueAt, name, data, options, reconcileAt ?? ''];
}
