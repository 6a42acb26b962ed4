/** Metadata of runs, hot or archived. Metadata of an archived run is changed where it is. */
import type { Archive } from '../archive/archive.ts';
import type { Metadata, MetadataTarget, MetadataUpdate } from '../model/runs/metadata.ts';
import { metadataChange, toMetadata } from '../store/runs/metadata-fields.ts';
import type { RunMetadata } from '../store/runs/run-metadata.ts';
import type { RunStatuses } from '../store/runs/run-statuses.ts';
import { isHot } from './run-history.ts';

export interface RunMetadataHistoryDeps {
  runMetadata: RunMetadata;
  runStatuses: RunStatuses;
  archive: Archive;
}

export class RunMetadataHistory implements Pick<RunMetadata, 'read' | 'update'> {
  readonly #deps: RunMetadataHistoryDeps;

  constructor(deps: RunMetadataHistoryDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError archive_unavailable */
  async read(env: string, runId: string): Promise<Metadata[]> {
    const { runMetadata, runStatuses, archive } = this.#deps;
    const hot = await runMetadata.read(env, runId);
    if (hot.length > 0 || (await isHot(runStatuses, env, runId))) return hot;
    return toMetadata((await archive.runParts.metadata(env, runId)) ?? {});
  }

  /** @throws ServiceError archive_unavailable */
  async update(
    env: string,
    runId: string,
    target: MetadataTarget,
    update: MetadataUpdate,
    nowMs: number,
  ): Promise<'stored' | 'full' | 'gone'> {
    const { runMetadata, archive } = this.#deps;
    const outcome = await runMetadata.update(env, runId, target, update, nowMs);
    if (outcome !== 'gone') return outcome;
    return archive.runParts.changeMetadata(env, runId, metadataChange(target, update, nowMs));
  }
}
