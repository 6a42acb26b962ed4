/** Handles missing events. After a failover, a run may exist before its event: the event was stored on the replaced primary, and its
 *  unfinished ingest job stores it again. */
import { type Failure, permanentFailure } from '../../../functions/interpret-response.ts';
import type { Run } from '../../../model/runs/run.ts';
import { unavailable } from '../../../store/redis/connection/connection.ts';

/** After this time, another worker has taken over the ingest job. */
const AWAITED_MS = 120_000;

/** Whether the event may still arrive. A re-run starts only if its event exists. */
export function mayArrive({ queuedAt, retryOf }: Pick<Run, 'queuedAt' | 'retryOf'>, nowMs: number): boolean {
  return retryOf === undefined && nowMs - queuedAt < AWAITED_MS;
}

/** @returns the failure of the run
 *  @throws ServiceError unavailable, which does not count as an attempt, while the event may still arrive */
export function missingEvent(run: Run, nowMs: number): Failure {
  if (mayArrive(run, nowMs)) throw unavailable(`the event ${run.eventId} of the run ${run.id} is not stored yet`);
  return permanentFailure('EventGone', `the event ${run.eventId} is no longer stored`);
}
