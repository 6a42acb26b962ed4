/** Takes jobs, several at once, and ends completed ones, by scripts of this service that do only what its jobs need
 *  (store/redis/lua/lib/finish-job.lua). A job may end within the script that ends the run of its call. */
import { Job, type JobJson } from 'bullmq';
import { JOB_FIELDS, QUEUE_KEYS } from '../store/keys/bullmq.ts';
import type { Finished, JobEnd, JobEnding, JobLists } from '../store/redis/job-lists.ts';
import type { WatchedWorker } from './watched-worker.ts';

/** Maximum number of jobs that a worker takes in a round trip. */
const TAKEN_MAX = 16;

export class JobEnds<Data> {
  readonly #worker: WatchedWorker<Data>;
  /** Jobs that have ended with their run. */
  readonly #finished = new WeakMap<object, { finished: Finished; nowMs: number }>();

  constructor(worker: WatchedWorker<Data>, jobLists: Pick<JobLists, 'take' | 'finish'>) {
    this.#worker = worker;
    const { backend } = worker;
    this.#takeFrom(backend.toKey(QUEUE_KEYS.waiting), jobLists);
    const otherwise = backend.moveToCompleted.bind(backend);
    backend.moveToCompleted = async (job, value, keep, token, fetchNext) => {
      const before = this.#finished.get(job);
      if (before) return { result: this.#nextOf(before.finished, before.nowMs), finishedOn: before.nowMs };
      const ending = this.#endingOf(job.id, token, fetchNext && !backend.closing);
      const finished = await jobLists.finish(ending);
      // BullMQ's own script reports why the worker has lost the job.
      if (!finished) return otherwise(job, value, keep, token, fetchNext);
      return { result: this.#nextOf(finished, ending.nowMs), finishedOn: ending.nowMs };
    };
  }

  /** BullMQ's worker takes jobs one by one, each in a round trip, and begins the first when it has taken the last: with many waiting jobs,
   *  the first would wait for all these round trips. Its own script also wakes a worker for each job taken, even if no job is left. */
  #takeFrom(waiting: string, jobLists: Pick<JobLists, 'take'>): void {
    const { backend, opts } = this.#worker;
    const otherwise = backend.moveToActive.bind(backend);
    backend.moveToActive = async (token, name) => {
      const nowMs = Date.now();
      const others = this.#worker.expectBeside(TAKEN_MAX - 1);
      const jobs: Job<Data, void>[] = [];
      try {
        const taken = await jobLists.take(waiting, token, nowMs, opts.lockDuration as number, 1 + others);
        for (const { id, fields } of taken.others ?? []) {
          const job = this.#worker.takenJob(jobOf(id, fields, nowMs), id, token);
          if (job) jobs.push(job);
        }
        return this.#nextOf(taken, nowMs) ?? otherwise(token, name);
      } finally {
        this.#worker.runTaken(jobs, others);
      }
    };
  }

  /** For a job that ends with its run. */
  of(job: Job<Data>): JobEnd {
    let nowMs = 0;
    return {
      begin: () => {
        this.#worker.stopRenewing(job);
        const ending = this.#endingOf(job.id, job.token as string, this.#worker.takesNext);
        nowMs = ending.nowMs;
        return ending;
      },
      record: (finished) => void this.#finished.set(job, { finished, nowMs }),
    };
  }

  #endingOf(id = '', token: string, takesNext: boolean): JobEnding {
    const { backend, opts } = this.#worker;
    return { key: backend.toKey(id), id, token, nowMs: Date.now(), lockMs: opts.lockDuration as number, takesNext };
  }

  /** The result in the form of BullMQ's worker: the next job, or no job, and when a delayed job is due; undefined: the worker looks for a
   *  job itself. */
  #nextOf(finished: Finished, nowMs: number): NextJob | undefined {
    const { next, delayedUntil } = finished;
    if (!next) return finished.isSure ? [undefined, undefined, 0, delayedUntil] : undefined;
    const job = jobOf(next.id, next.fields, nowMs);
    if (next.isLast) this.#worker.noteLast(job);
    return [job, next.id, 0, delayedUntil];
  }
}

type NextJob = [job: JobJson | undefined, id: string | undefined, rateLimitDelayMs: number, delayedUntil: number];

/** @param fields before this execution */
export function jobOf(id: string, fields: Record<string, string>, nowMs: number): JobJson {
  const { name = '', data = '{}', opts, delay, priority, stacktrace, returnvalue, failedReason, defa } = fields;
  const number = (field: string) => Number(fields[field] ?? 0);
  return {
    id,
    name,
    data,
    opts: Job.optsFromJSON(opts),
    progress: JSON.parse(fields.progress ?? '0'),
    delay: Number(delay),
    priority: Number(priority),
    timestamp: number(JOB_FIELDS.addedAt),
    attemptsStarted: number(JOB_FIELDS.executions) + 1,
    attemptsMade: number(JOB_FIELDS.attempts),
    stalledCounter: number('stc'),
    processedOn: nowMs,
    failedReason: failedReason as string,
    returnvalue: returnvalue as string,
    ...(stacktrace !== undefined && { stacktrace }),
    ...(defa !== undefined && { deferredFailure: defa }),
  };
}
