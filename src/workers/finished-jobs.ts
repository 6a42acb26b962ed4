/** Ends completed jobs by a script of this service, which does only what its jobs need (store/redis/lua/finish-job.lua). */
import { Job, type JobJson } from 'bullmq';
import { JOB_FIELDS } from '../store/keys/bullmq.ts';
import type { Finished, JobLists } from '../store/redis/job-lists.ts';
import type { WatchedWorker } from './watched-worker.ts';

export function finishWith<Data>(worker: WatchedWorker<Data>, jobLists: Pick<JobLists, 'finish'>): void {
  const { backend, opts } = worker;
  const otherwise = backend.moveToCompleted.bind(backend);
  backend.moveToCompleted = async (job, value, keep, token, fetchNext) => {
    const { id = '' } = job;
    const nowMs = Date.now();
    const takesNext = fetchNext && !backend.closing;
    const next = { nowMs, lockMs: opts.lockDuration as number, takesNext };
    const finished = await jobLists.finish({ key: backend.toKey(id), id, token }, next);
    // BullMQ says why the worker has lost the job.
    if (!finished) return otherwise(job, value, keep, token, fetchNext);
    return { result: nextOf(finished, nowMs), finishedOn: nowMs };
  };
}

/** As BullMQ's worker takes it: the next job; none, and when a delayed one is due; undefined: the worker looks. */
function nextOf(finished: Finished, nowMs: number): unknown[] | undefined {
  if (!finished.next) return finished.isSure ? [undefined, undefined, 0, finished.delayedUntil] : undefined;
  const { id, fields } = finished.next;
  return [jobOf(id, fields, nowMs), id, 0, 0];
}

/** @param fields before this execution */
function jobOf(id: string, fields: Record<string, string>, nowMs: number): JobJson {
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
