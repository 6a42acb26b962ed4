/** Reads runs from Redis; offloaded runs are read where they are, or brought back. */
import { type Pin, readPin } from '../../model/apps/versions.ts';
import type { HistoryEntry, Run } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { RUN_SUFFIXES } from '../keys/runs.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { fromFlat, type ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { decodeHistoryEntry } from './history-entries.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { toRun } from './run-record.ts';

export class RunReads<Deps extends { offloadedRuns: OffloadedRuns }> extends Repository<ScriptedRedis, Deps> {
  /** The version on which the run ends, read by itself; undefined: it is not pinned, or not stored. */
  async pinOf(env: string, id: string): Promise<Pin | undefined> {
    const text = await this.redis.hget(this.keys.of(id).run(env, id), RUN_FIELDS.version);
    return text === null ? undefined : readPin(text);
  }

  async read(env: string, id: string): Promise<Run | undefined> {
    return (await this.readMany(env, [id]))[0];
  }

  /** Reads a run that the caller changes next: an offloaded run is brought back. */
  async readToChange(env: string, id: string): Promise<Run | undefined> {
    return (await this.readManyToChange(env, [id]))[0];
  }

  /** The last entries of the history, in the order of their ends. */
  async lastHistory(env: string, id: string, count: number): Promise<HistoryEntry[]> {
    const read = await this.redis.readPart(this.keys.of(id).run(env, id), RUN_SUFFIXES.history, -count);
    return (read as string[]).map(decodeHistoryEntry);
  }

  /** The functions of runs, in the order of the runs; null for a run that is not stored. */
  functionIds(runs: readonly { env: string; runId: string }[]): Promise<(string | null)[]> {
    const commands = runs.map(({ env, runId }) => ['hget', this.keys.of(runId).run(env, runId), RUN_FIELDS.functionId]);
    return inPipelines(this.redis, commands);
  }

  /** The result is in the order of the IDs; runs that are not stored are omitted.
   *  @throws ServiceError archive_unavailable */
  async readMany(env: string, ids: readonly string[]): Promise<Run[]> {
    return this.#withMissing(env, ids, async (missing) => {
      const offloaded = await this.deps.offloadedRuns.parts(env, missing);
      return [...offloaded].map(([id, parts]) => toRun(env, id, fromFlat(parts.get('') ?? [])));
    });
  }

  /** IDs of the runs that are stored, in Redis or offloaded. */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    const present = new Set<string>();
    const others = () => ids.filter((id) => !present.has(id));
    const look = async () => {
      const commands = others().map((id) => ['hexists', this.keys.of(id).run(env, id), RUN_FIELDS.status]);
      const found = await inPipelines<number>(this.redis, commands);
      for (const [i, id] of others().entries()) if (found[i] === 1) present.add(id);
    };
    await look();
    if (others().length === 0) return present;
    for (const id of await this.deps.offloadedRuns.which(env, others())) present.add(id);
    // A run may have come back from Postgres a moment ago.
    await look();
    return present;
  }

  /** Reads runs that the caller changes next: offloaded runs are brought back.
   *  @throws ServiceError archive_unavailable */
  async readManyToChange(env: string, ids: readonly string[]): Promise<Run[]> {
    return this.#withMissing(env, ids, async (missing) => {
      await this.deps.offloadedRuns.bringBack(env, missing);
      return [];
    });
  }

  /** @param find finds runs that are not in Redis */
  async #withMissing(
    env: string,
    ids: readonly string[],
    find: (missing: readonly string[]) => Promise<Run[]>,
  ): Promise<Run[]> {
    const byId = new Map((await this.#readMany(env, ids)).map((run) => [run.id, run]));
    const areMissing = () => ids.filter((id) => !byId.has(id));
    if (areMissing().length > 0 && this.deps.offloadedRuns.mayExist) {
      for (const run of await find(areMissing())) byId.set(run.id, run);
      // The other runs may have come back from Postgres a moment ago.
      for (const run of await this.#readMany(env, areMissing())) byId.set(run.id, run);
    }
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  async #readMany(env: string, ids: readonly string[]): Promise<Run[]> {
    if (ids.length === 0) return [];
    const commands = ids.map((id) => ['hgetall', this.keys.of(id).run(env, id)]);
    const found = await inPipelines<Record<string, string>>(this.redis, commands);
    return found.flatMap((fields, i) => (fields[RUN_FIELDS.status] ? [toRun(env, ids[i] as string, fields)] : []));
  }
}
