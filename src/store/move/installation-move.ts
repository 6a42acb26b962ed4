/** Moves an installation from one Redis to another, or to a cluster, while no process runs: both sides are marked, and processes that find
 *  a marker do not start, or stop. The source then rejects new events from any process. Then everything is copied and compared. Last, the
 *  target gets its layout and is in use. An interrupted move is repeated from the start, after deleting what the first attempt copied. */
import { setTimeout } from 'node:timers/promises';
import { newId } from '../../model/ids.ts';
import { PartitionLayout } from '../../model/partitions/layout.ts';
import { Composed } from '../../model/values/composed.ts';
import { sum } from '../../model/values/sum.ts';
import { primariesOf } from '../redis/connection/servers.ts';
import { type Keyspace, keyspace } from '../redis/keyspace/keyspace.ts';
import type { MoveMarker } from '../redis/keyspace/move-marker.ts';
import type { Store } from '../store.ts';
import { Copier } from './copy.ts';
import { lowerFence, raiseFence } from './fence.ts';
import { KeyMap } from './key-map.ts';
import { Layouts } from './layouts.ts';
import { scan } from './scan.ts';
import { Comparison } from './verify.ts';

/** Why the move cannot continue, for the operator. */
export class MoveProblem extends Error {
  override name = 'MoveProblem';
}

export interface MoveSide {
  store: Store;
  /** Host name for messages. */
  host: string;
}

export interface MoveOptions {
  keyPrefix: string;
  /** A single Redis, not a cluster. */
  source: MoveSide;
  target: MoveSide;
  /** Minimum number of partitions on the target. */
  partitions: number;
  report: (line: string) => void;
}

const LOCK_MS = 10_000;
const LOCK_TRIES = 15;
const REPORT_EVERY_MS = 5_000;
/** Maximum rounds of comparing and copying differences. */
const ROUNDS = 4;
/** Within this time, a process that started without seeing a marker sends its first heartbeat. */
const LATE_START_MS = 3_000;
const SHOWN_KEYS = 5;

export class InstallationMove extends Composed<MoveOptions> {
  readonly #source = this.deps.source.store.redis;
  readonly #target = this.deps.target.store.redis;
  readonly #layouts = new Layouts(this.deps.source.store, this.deps.target.store);
  #reportedAt = performance.now();

  /** @throws MoveProblem if it cannot continue; it can be repeated */
  run(): Promise<void> {
    return this.#alone(() => this.#run());
  }

  /** Undoes an unfinished move: the source is in use again.
   *  @throws MoveProblem if the move has finished */
  cancel(): Promise<void> {
    return this.#alone(() => this.#cancel());
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    for (let left = LOCK_TRIES; left > 0; left--) {
      let hasWorked = false;
      await this.deps.source.store.locks.withLock('move', LOCK_MS, () => {
        hasWorked = true;
        return work();
      });
      if (hasWorked) return;
      await setTimeout(1_000);
    }
    throw new MoveProblem('Another `scripts/start move` from this Redis is at work');
  }

  async #run(): Promise<void> {
    const { source, target, report } = this.deps;
    const markers = await this.#markers();
    if (markers.source?.state === 'finished' && markers.target?.state === 'finished') {
      report(`The installation has been moved to ${target.host} already`);
      return;
    }
    if (!markers.source) await this.#requireIdle(source);
    if (!markers.target && (await this.#hasAny(target))) {
      throw new MoveProblem(
        `${target.host} has keys of an installation with this KEY_PREFIX already. Delete them, or use another KEY_PREFIX`,
      );
    }
    const id = markers.source?.id ?? newId();
    const startedAt = markers.source?.startedAt ?? Date.now();
    // The target is marked first, so that no process uses it until it is complete.
    await this.#layouts.mark('target', { id, role: 'target', state: 'unfinished', other: source.host, startedAt });
    const onSource: MoveMarker = { id, role: 'source', state: 'unfinished', other: target.host, startedAt };
    await this.#layouts.mark('source', onSource);
    await setTimeout(LATE_START_MS);
    await this.#requireIdle(source);
    const keys = await this.#sourceKeys();
    await raiseFence(this.#source, keys);
    await this.#copyAll(keys);
    await this.#requireIdle(target);
    const versions = await this.#layouts.writeTarget(this.deps.partitions);
    await this.#layouts.mark('source', { ...onSource, state: 'finished' });
    await this.#layouts.mark('target', { id, role: 'target', state: 'finished', other: source.host, startedAt });
    const count = versions.at(-1)?.count ?? 1;
    report(
      `Moved to ${target.host}, which has ${count} partition${count === 1 ? '' : 's'}. Start web and worker with its settings. ${source.host} keeps its keys, and refuses to be used; delete them when you no longer need them`,
    );
  }

  async #cancel(): Promise<void> {
    const { source, target, report } = this.deps;
    const markers = await this.#markers();
    if (!markers.source) throw new MoveProblem(`No move from ${source.host} is in progress`);
    if (markers.target?.state === 'finished') {
      throw new MoveProblem(`The installation has been moved, and ${target.host} may have new events: it stays there`);
    }
    if (markers.target) await this.#clear();
    await this.#layouts.unmark('target');
    await lowerFence(this.#source, await this.#sourceKeys());
    await this.#layouts.unmark('source');
    report(`Undone: ${source.host} can be used again, and ${target.host} has nothing of it`);
  }

  /** @throws MoveProblem if the markers belong to different moves */
  async #markers(): Promise<{ source: MoveMarker | undefined; target: MoveMarker | undefined }> {
    const { source, target } = this.deps;
    const [ofSource, ofTarget] = await Promise.all([this.#layouts.marker('source'), this.#layouts.marker('target')]);
    // The installation was moved to this Redis earlier, and now moves on.
    const found = ofSource?.role === 'target' && ofSource.state === 'finished' ? undefined : ofSource;
    if (found?.role === 'target') throw new MoveProblem(`A move to ${source.host} has not finished yet`);
    if (ofTarget && ofTarget.id !== found?.id) {
      throw new MoveProblem(`${target.host} is the target or source of another move, of ${ofTarget.other}`);
    }
    if (found && found.state === 'finished' && !ofTarget) {
      throw new MoveProblem(`The installation was moved from ${source.host} to ${found.other}, not to ${target.host}`);
    }
    return { source: found, target: ofTarget };
  }

  async #requireIdle({ store, host }: MoveSide): Promise<void> {
    const alive = await store.processes.alive();
    if (alive.length === 0) return;
    const names = alive.map((process) => `${process.kind} ${process.pid} on ${process.host}`);
    throw new MoveProblem(
      `Processes use ${host}: ${names.join(', ')}. Stop all web and worker processes first; one that was killed counts for 10 s`,
    );
  }

  async #hasAny({ store: { redis } }: MoveSide): Promise<boolean> {
    for (const server of primariesOf(redis)) {
      for await (const _ of scan(server, this.deps.keyPrefix)) return true;
    }
    return false;
  }

  /** Reads the layout directly, because the store does not open a marked Redis. */
  async #sourceKeys(): Promise<Keyspace> {
    const layout = new PartitionLayout(await this.#layouts.versions('source'));
    return keyspace({ prefix: this.deps.keyPrefix, layout: () => layout });
  }

  /** Deletes keys that an earlier attempt copied. */
  async #clear(): Promise<void> {
    const kept = this.deps.target.store.keys.partitionLayout;
    for (const server of primariesOf(this.#target)) {
      for await (const found of scan(server, this.deps.keyPrefix)) {
        const deleting = server.pipeline();
        for (const key of found) if (key !== kept) deleting.unlink(key);
        await deleting.exec();
      }
    }
  }

  async #copyAll(keys: Keyspace): Promise<void> {
    const { source, target, report } = this.deps;
    const map = new KeyMap(keys, target.store.keys);
    const copier = new Copier({ source: this.#source, target: this.#target, map });
    const total = await this.#source.dbsize();
    await this.#clear();
    report(`Copying from ${source.host} to ${target.host}: at most ${total.toLocaleString('en')} keys`);
    const startedAt = performance.now();
    for await (const found of scan(this.#source, this.deps.keyPrefix)) {
      await copier.copy(found);
      this.#progress(() => {
        const seconds = (performance.now() - startedAt) / 1_000;
        const rate = Math.round(copier.keys / seconds);
        return `${copier.keys.toLocaleString('en')} keys copied, ${megabytes(copier.bytes)}, ${rate.toLocaleString('en')} keys/s`;
      });
    }
    report(
      `${copier.keys.toLocaleString('en')} keys copied, ${megabytes(copier.bytes)} in the memory of ${source.host}`,
    );
    for (let round = 1; ; round++) {
      const differing = await this.#compare(map, total);
      if (differing.length === 0) return;
      const shown = differing.slice(0, SHOWN_KEYS).join(', ');
      report(`${differing.length.toLocaleString('en')} keys differ and are copied again: ${shown}`);
      if (round === ROUNDS) {
        throw new MoveProblem(
          `Keys of ${source.host} still change, or cannot be copied: ${shown}. Does a process run?`,
        );
      }
      await copier.copy(differing);
    }
  }

  async #compare(map: KeyMap, total: number): Promise<string[]> {
    const comparison = new Comparison({ source: this.#source, target: this.#target, map, total });
    const differing: string[] = [];
    for await (const found of scan(this.#source, this.deps.keyPrefix)) {
      for (const key of await comparison.differing(found)) differing.push(key);
      this.#progress(() => `${sum(comparison.same.values()).toLocaleString('en')} keys compared`);
    }
    const kinds = [...comparison.same].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, n]) => `${kind} ${n}`);
    const { report } = this.deps;
    report(
      `${sum(comparison.same.values()).toLocaleString('en')} keys are the same, ${comparison.sampled} of them compared by content`,
    );
    report(`  ${kinds.join(', ')}`);
    return differing;
  }

  #progress(line: () => string): void {
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    this.deps.report(line());
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_048_576).toLocaleString('en')} MB`;
}
