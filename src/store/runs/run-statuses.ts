/** Statuses of runs, without other fields. */
import type { RunStatus } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines } from '../redis/connection.ts';
import { Repository } from '../redis/repository.ts';

export class RunStatuses extends Repository {
  /** By run ID; runs that are not stored are omitted. */
  async of(runs: readonly { env: string; id: string }[]): Promise<Map<string, RunStatus>> {
    const commands = runs.map(({ env, id }) => ['hget', this.keys.of(id).run(env, id), RUN_FIELDS.status]);
    const statuses = await inPipelines<RunStatus | null>(this.redis, commands);
    return new Map(statuses.flatMap((status, i) => (status ? [[(runs[i] as { id: string }).id, status]] : [])));
  }
}
