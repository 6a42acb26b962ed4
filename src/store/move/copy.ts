/** Copies keys from one Redis to another, with their TTLs: many small ones at a time, a large one in parts. Existing values on the target
 *  are replaced, so copying can be repeated. */
import { Composed } from '../../model/values/composed.ts';
import { type Command, inPipelines, type Redis } from '../redis/connection/connection.ts';
import { copyInParts } from './copy-in-parts.ts';
import type { KeyMap, Rename } from './key-map.ts';

/** Larger keys are copied in parts. Redis estimates the size. */
const LARGE_BYTES = 4_194_304;
/** Total size of the keys held in memory at a time. */
const BATCH_BYTES = 16_777_216;
/** Errors of a target whose version or product cannot read the source's dumps. */
const FOREIGN_DUMP = /DUMP payload version|Bad data format/;

export class Copier extends Composed<{ source: Redis; target: Redis; map: KeyMap }> {
  #canRestore = true;
  /** Estimated by the source. */
  bytes = 0;
  keys = 0;

  async copy(found: readonly string[]): Promise<void> {
    const renames = found.flatMap((from) => {
      const to = this.deps.map.targetOf(from);
      return to === undefined ? [] : [{ from, to }];
    });
    const sizes = await inPipelines<number | null>(
      this.deps.source,
      renames.map(({ from }) => ['memory', 'USAGE', from]),
    );
    let batch: Rename[] = [];
    let batchBytes = 0;
    for (const [i, rename] of renames.entries()) {
      const size = sizes[i] ?? 0;
      this.bytes += size;
      this.keys++;
      if (size > LARGE_BYTES) {
        await this.#copyLarge(rename);
        continue;
      }
      if (batchBytes + size > BATCH_BYTES) {
        await this.#copySmall(batch);
        batch = [];
        batchBytes = 0;
      }
      batch.push(rename);
      batchBytes += size;
    }
    await this.#copySmall(batch);
  }

  async #copyLarge(rename: Rename): Promise<void> {
    await copyInParts(this.deps.source, this.deps.target, rename);
    if (this.deps.map.namesKeys(rename.from)) await this.#rewrite([rename]);
  }

  async #copySmall(batch: readonly Rename[]): Promise<void> {
    if (batch.length === 0) return;
    if (!this.#canRestore) {
      for (const rename of batch) await this.#copyLarge(rename);
      return;
    }
    const reading = this.deps.source.pipeline();
    for (const { from } of batch) reading.pttl(from).dumpBuffer(from);
    const read = (await reading.exec()) ?? [];
    const failed = read.find(([error]) => error)?.[0];
    if (failed) throw failed;
    const commands = batch.flatMap(({ to }, i): Command[] => {
      const ttl = read[2 * i]?.[1] as number;
      const dump = read[2 * i + 1]?.[1] as Buffer | null;
      // The key has expired.
      if (dump === null || ttl === -2) return [];
      return [['restore', to, Math.max(ttl, 0), dump, 'REPLACE']];
    });
    try {
      await inPipelines(this.deps.target, commands);
    } catch (error) {
      if (!FOREIGN_DUMP.test((error as Error).message)) throw error;
      this.#canRestore = false;
      return this.#copySmall(batch);
    }
    await this.#rewrite(batch.filter(({ from }) => this.deps.map.namesKeys(from)));
  }

  /** Replaces key names within values. */
  async #rewrite(renames: readonly Rename[]): Promise<void> {
    const values = await inPipelines<Record<string, string>>(
      this.deps.source,
      renames.map(({ from }) => ['hgetall', from]),
    );
    const commands = renames.flatMap(({ to }, i): Command[] => {
      const fields = Object.entries(values[i] as Record<string, string>);
      if (fields.length === 0) return [];
      return [['hset', to, ...fields.flatMap(([field, text]) => [field, this.deps.map.renamedLocation(text)])]];
    });
    await inPipelines(this.deps.target, commands);
  }
}
