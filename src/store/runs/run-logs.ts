/** Logs of runs: the hash `logs` of each, created with the first line (run-log-fields.ts). */
import {
  LOG_BATCHES_MAX,
  LOG_RATE_MAX,
  LOG_RATE_WINDOW_MS,
  type LogBatch,
  linesOf,
  RUN_LOG_MAX_BYTES,
  RUN_LOG_MAX_LINES,
} from '../../model/runs/log-lines.ts';
import type { RunStatus } from '../../model/runs/run.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';

export interface AppendedTo {
  functionId: string;
  eventId: string;
  status: RunStatus;
}

const BOUNDS = [RUN_LOG_MAX_LINES, RUN_LOG_MAX_BYTES, LOG_BATCHES_MAX, LOG_RATE_MAX, LOG_RATE_WINDOW_MS];

export class RunLogs extends Repository<ScriptedRedis, { offloadedRuns: OffloadedRuns }> {
  /** Idempotent per batch. Lines that do not fit are counted.
   *  @returns the run if lines were added; 'known': the batch was stored before, or the log is full; 'busy': too many requests of the
   *  run; 'gone': there is no such run */
  async append(
    env: string,
    runId: string,
    batch: LogBatch,
    nowMs: number,
  ): Promise<AppendedTo | 'known' | 'busy' | 'gone'> {
    const key = this.keys.of(runId).run(env, runId);
    const lines = linesOf(batch).map((line) => JSON.stringify(line));
    const args = [batch.batch, nowMs, batch.dropped, ...BOUNDS, ...lines];
    const append = async () => (await this.redis.appendRunLog(key, ...args)) as string[];
    let reply = await append();
    if (reply[0] === 'gone' && (await this.deps.offloadedRuns.bringBack(env, [runId]))) reply = await append();
    const [outcome, functionId, eventId, status] = reply;
    if (outcome !== 'stored') return outcome as 'known' | 'busy' | 'gone';
    return { functionId: functionId as string, eventId: eventId as string, status: status as RunStatus };
  }
}
