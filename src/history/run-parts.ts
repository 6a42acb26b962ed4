/** Parts of runs, hot or archived. A part is read from Redis first; if Redis does not have it, it may be archived, unless Redis has the run. */
import type { Archive } from '../archive/archive.ts';
import type { Pending } from '../model/runs/memo.ts';
import type { KeptPart } from '../store/keys/runs.ts';
import { metadataChange } from '../store/runs/metadata-fields.ts';
import { codecOf, type PartValue } from '../store/runs/run-parts.ts';
import type { Store } from '../store/store.ts';

type HotParts = Pick<Store, 'runParts' | 'runStatuses' | 'steps' | 'runMetadata'>;

export class RunPartHistory {
  readonly #hot: HotParts;
  readonly #archived: Archive['runParts'];

  constructor(hot: HotParts, { runParts }: Pick<Archive, 'runParts'>) {
    this.#hot = hot;
    this.#archived = runParts;
  }

  /** @throws ServiceError archive_unavailable */
  async read<Part extends KeptPart>(env: string, runId: string, part: Part): Promise<PartValue<Part>> {
    const hot = await this.#hot.runParts.find(env, runId, part);
    const found = hot ?? (await this.#unlessHot(env, runId, () => this.#archived.find(env, runId, part)));
    return codecOf(part).read(found);
  }

  /** The memo of one step as JSON text; undefined if the step is not finished.
   *  @throws ServiceError archive_unavailable */
  async memo(env: string, runId: string, stepId: string): Promise<string | undefined> {
    const hot = await this.#hot.steps.memo(env, runId, stepId);
    return hot ?? this.#unlessHot(env, runId, () => this.#archived.memo(env, runId, stepId));
  }

  /** An archived run has no pending steps.
   *  @throws ServiceError archive_unavailable */
  async progress(env: string, runId: string): Promise<{ pending: Map<string, Pending>; done: number }> {
    const hot = await this.#hot.steps.progress(env, runId);
    if (hot.done > 0 || hot.pending.size > 0) return hot;
    const stack = await this.#unlessHot(env, runId, () => this.#archived.find(env, runId, 'stack'));
    return { ...hot, done: stack?.length ?? 0 };
  }

  /** Metadata of an archived run is changed in the archive.
   *  @throws ServiceError archive_unavailable */
  async update(...update: Parameters<Store['runMetadata']['update']>): ReturnType<Store['runMetadata']['update']> {
    const outcome = await this.#hot.runMetadata.update(...update);
    if (outcome !== 'gone') return outcome;
    const [env, runId, ...change] = update;
    return this.#archived.changeMetadata(env, runId, metadataChange(...change));
  }

  async #unlessHot<T>(env: string, id: string, read: () => Promise<T>): Promise<T | undefined> {
    return (await this.#hot.runStatuses.of([{ env, id }])).has(id) ? undefined : read();
  }
}
