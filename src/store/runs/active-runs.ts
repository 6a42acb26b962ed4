/** Active runs, sorted by the time of their next reconciliation. */
import type { Run } from '../../model/runs/run.ts';
import { sum } from '../../model/values/sum.ts';
import { inPipelines, isStoreFailure, replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export interface ActiveRun {
  env: string;
  runId: string;
}

export interface NextReconciliation {
  nowMs: number;
  /** How long before its time a wake-up gets its job. */
  wakeJobLeadMs: number;
  /** Time until the next reconciliation of a run that is not idle. */
  afterMs: number;
  /** Latest time of the next reconciliation, Unix milliseconds. */
  latestMs?: number | undefined;
  /** Whether the runs have just been reconciled. Otherwise only runs that sleep and need no more than wake-ups are scheduled. */
  isReconciled: boolean;
}

/** `needsReconciliation`: the run must be reconciled, or has ended. `needsWakes`: these wake-ups need jobs, and nothing else; `fields` describes the run.
 *  `failed`: what is stored of the run is unreadable. */
export type Scheduled =
  | { outcome: 'done' | 'needsReconciliation' }
  | { outcome: 'failed'; error: Error }
  | {
      outcome: 'needsWakes';
      run: Pick<Run, 'functionId' | 'eventId' | 'requestId' | 'trace'>;
      /** Number of finished steps of the next call, if nothing but one sleep is pending. */
      finishedSteps?: number;
      wakes: { stepId: string; untilMs: number }[];
    };

type ScheduleReply = [0 | 1] | [2, string, string, string, string | null, number, ...string[]];

export class ActiveRuns extends Repository {
  /** Runs of a partition whose reconciliation is due, longest overdue first. */
  async dueForReconciliation(partition: number, nowMs: number, limit: number): Promise<ActiveRun[]> {
    const { activeRuns } = this.keys.partition(partition);
    const members = await this.redis.zrangebyscore(activeRuns, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map(readMember);
  }

  /** @param dueBeforeMs count only runs whose reconciliation was due before this time */
  async count(dueBeforeMs?: number): Promise<number> {
    const commands = this.keys.all().map(({ activeRuns }) => {
      return dueBeforeMs === undefined ? ['zcard', activeRuns] : ['zcount', activeRuns, '-inf', `(${dueBeforeMs}`];
    });
    const counts = await inPipelines<number>(this.redis, commands);
    return sum(counts);
  }

  /** Sets the next reconciliation, if the run is still active. */
  async postpone(env: string, runId: string, untilMs: number): Promise<void> {
    await this.redis.zadd(this.keys.of(runId).activeRuns, 'XX', untilMs, memberOf(env, runId));
  }

  /** Sets the next reconciliation to this time, unless it is earlier, if the run is still active. */
  async advance(env: string, runId: string, untilMs: number): Promise<void> {
    await this.redis.zadd(this.keys.of(runId).activeRuns, 'XX', 'LT', untilMs, memberOf(env, runId));
  }

  /** Sets the next reconciliation of runs of one partition: in time for the wake-ups of steps that sleep or wait for long, which have no
   *  jobs yet. Runs that do nothing else are packed.
   *  @returns for each run
   *  @throws Redis's error when it rejects commands */
  async schedule(
    runs: readonly ActiveRun[],
    { nowMs, wakeJobLeadMs, afterMs, latestMs, isReconciled }: NextReconciliation,
  ): Promise<Scheduled[]> {
    if (runs.length === 0) return [];
    const pipeline = this.redis.pipeline();
    for (const { env, runId } of runs) {
      const { run, activeRuns } = this.keys.of(runId);
      const options = [nowMs, wakeJobLeadMs, afterMs, latestMs ?? '', isReconciled ? 1 : ''];
      pipeline.scheduleReconciliation(run(env, runId), activeRuns, memberOf(env, runId), ...options);
    }
    return ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error === null) return toScheduled(reply as ScheduleReply);
      if (isStoreFailure(error)) throw error;
      return { outcome: 'failed', error };
    });
  }

  async remove(env: string, runId: string): Promise<void> {
    const { activeRuns, activeRunsIn } = this.keys.of(runId);
    const removal = this.redis.multi().zrem(activeRuns, memberOf(env, runId));
    replies(await removal.zrem(activeRunsIn(env), runId).exec());
  }
}

/** Member of `active-runs`, which covers all environments. */
export function memberOf(env: string, id: string): string {
  return `${env}/${id}`;
}

export function readMember(member: string): ActiveRun {
  const slash = member.lastIndexOf('/');
  return { env: member.slice(0, slash), runId: member.slice(slash + 1) };
}

function toScheduled([
  outcome,
  functionId = '',
  eventId = '',
  requestId = '',
  trace,
  finishedSteps,
  ...steps
]: ScheduleReply): Scheduled {
  if (outcome !== 2) return { outcome: outcome === 1 ? 'done' : 'needsReconciliation' };
  const wakes = Array.from({ length: steps.length / 2 }, (_, i) => ({
    stepId: steps[2 * i] as string,
    untilMs: Number(steps[2 * i + 1]),
  }));
  const run = { functionId, eventId, requestId, ...(trace && { trace }) };
  return { outcome: 'needsWakes', run, wakes, ...(finishedSteps !== -1 && { finishedSteps }) };
}
