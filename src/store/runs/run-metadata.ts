/** Metadata of runs: one hash per run, created with the first metadata (metadata-fields.ts). */
import {
  METADATA_MAX_BYTES,
  METADATA_MAX_VALUES,
  type MetadataTarget,
  type MetadataUpdate,
} from '../../model/runs/metadata.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { metadataChange } from './metadata-fields.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';

export class RunMetadata extends Repository<ScriptedRedis, { offloadedRuns: OffloadedRuns }> {
  /** Idempotent.
   *  @returns 'full': the run would have too much metadata, and nothing changed; 'gone': there is no such run */
  async update(
    env: string,
    runId: string,
    target: MetadataTarget,
    update: MetadataUpdate,
    nowMs: number,
  ): Promise<'stored' | 'full' | 'gone'> {
    const { field, op, values } = metadataChange(target, update, nowMs);
    const bounds = [METADATA_MAX_BYTES, METADATA_MAX_VALUES];
    const key = this.keys.of(runId).run(env, runId);
    const store = async () => {
      const reply = await this.redis.setMetadata(key, field, op, nowMs, ...bounds, ...values.flat());
      return reply as 'stored' | 'full' | 'gone';
    };
    const outcome = await store();
    return outcome === 'gone' && (await this.deps.offloadedRuns.bringBack(env, [runId])) ? store() : outcome;
  }
}
