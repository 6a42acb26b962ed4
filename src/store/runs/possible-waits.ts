/** Finds the waits that events may meet: waits that require no value, and waits that require a value that an event has. */
import { type Path, valueAt } from '../../model/expressions/paths.ts';
import type { Wait } from '../../model/runs/wait.ts';
import { digestOf, readWait } from '../../model/runs/wait-index.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { type RemoteWait, remoteWait } from './wait-location.ts';

/** Waits per read. */
const READ_AT_ONCE = 500;

export interface StoredWait {
  key: string;
  /** Location of the wait; undefined if it was not looked up. */
  foundAt?: RemoteWait;
  wait: Wait;
}

/** Waits for one event name, and the events of a batch that may meet them. */
export interface WaitsOfName<ReceivedEvent> {
  name: string;
  waits: StoredWait[];
  /** Events in the order of the batch. */
  events: ReceivedEvent[];
}

type Scanned = [cursor: string, flat: string[]];

export class PossibleWaits extends Repository {
  /** Waits that the events may meet, in batches, each once.
   *  @param read returns an event as expressions see it (`async`) */
  async *of<ReceivedEvent extends { name: string }>(
    env: string,
    events: readonly ReceivedEvent[],
    read: (event: ReceivedEvent) => unknown,
  ): AsyncGenerator<WaitsOfName<ReceivedEvent>> {
    const byName = Map.groupBy(events, ({ name }) => name);
    const locations = [...byName].flatMap(([name, ofName]) => {
      return this.keys.homesOf(env, name).map((keys) => ({ name, ofName, keys }));
    });
    const found = await inPipelines<unknown>(
      this.redis,
      locations.flatMap(({ name, keys }) => [
        ['hkeys', keys.waitPaths(env, name)],
        ['hscan', keys.waits(env, name), 0, 'COUNT', READ_AT_ONCE],
      ]),
    );
    const keysToRead = new Map<string, WaitsOfName<ReceivedEvent> & { cursor: string; location: RemoteWait }>();
    for (const [i, { name, ofName, keys }] of locations.entries()) {
      const [cursor, flat] = found[2 * i + 1] as Scanned;
      const location = remoteWait(keys, env, { eventName: name, path: '' });
      keysToRead.set(location.byName, { name, events: ofName, cursor, location, waits: toWaits(location, flat) });
      for (const [digest, { path, having }] of byDigest(ofName, found[2 * i] as string[], read)) {
        const ofValue = remoteWait(keys, env, { eventName: name, digest, path });
        keysToRead.set(ofValue.byValue, { name, events: having, cursor: '', location: ofValue, waits: [] });
      }
    }
    for (let open = [...keysToRead]; open.length > 0; ) {
      for (const [, { name, waits, events: some }] of open) if (waits.length > 0) yield { name, waits, events: some };
      open = await this.#next(open.filter(([, { cursor }]) => cursor !== '0'));
    }
  }

  async #next<Read extends { cursor: string; location: RemoteWait; waits: StoredWait[] }>(
    open: [string, Read][],
  ): Promise<[string, Read][]> {
    if (open.length === 0) return [];
    const found = await inPipelines<Scanned>(
      this.redis,
      open.map(([key, { cursor }]) => ['hscan', key, cursor || 0, 'COUNT', READ_AT_ONCE]),
    );
    return open.map(([key, read], i) => {
      const [cursor, flat] = found[i] as Scanned;
      return [key, { ...read, cursor, waits: toWaits(read.location, flat) }];
    });
  }
}

function toWaits(foundAt: RemoteWait, flat: readonly string[]): StoredWait[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    key: flat[2 * i] as string,
    foundAt,
    wait: readWait(flat[2 * i + 1] as string),
  }));
}

function byDigest<ReceivedEvent>(
  events: readonly ReceivedEvent[],
  paths: readonly string[],
  read: (event: ReceivedEvent) => unknown,
): Map<string, { path: string; having: ReceivedEvent[] }> {
  const found = new Map<string, { path: string; having: ReceivedEvent[] }>();
  for (const text of paths) {
    const path = JSON.parse(text) as Path;
    for (const event of events) {
      const digest = digestOf(path, valueAt(read(event), path));
      if (digest === undefined) continue;
      const some = found.get(digest);
      if (some) some.having.push(event);
      else found.set(digest, { path: text, having: [event] });
    }
  }
  return found;
}
