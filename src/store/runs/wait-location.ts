/** Locations of waits. A run stores the location of each of its waits, so that its end can remove them: JSON in `run:…:waits`. For a wait
 *  in the run's own partition: the hash that holds it, the paths of its name, and its path among those or ''. For others: `false`, the
 *  hashes of its name, of its name and value, and of the paths of its name, and its path or ''. */
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';

/** A wait stored in another partition than its run. */
export interface RemoteWait {
  byName: string;
  byValue: string;
  paths: string;
  path: string;
}

export interface WaitTarget {
  eventName: string;
  /** Digest of the value that a field of the event must have. */
  digest?: string | undefined;
  /** JSON; '' for none. */
  path: string;
}

export function remoteWait(
  keys: PartitionKeyspace,
  env: string,
  { eventName, digest = '', path }: WaitTarget,
): RemoteWait {
  return {
    byName: keys.waits(env, eventName),
    byValue: keys.waitsByValue(env, digest, eventName),
    paths: keys.waitPaths(env, eventName),
    path,
  };
}

export function writeRemote({ byName, byValue, paths, path }: RemoteWait): string {
  return JSON.stringify([false, byName, byValue, paths, path]);
}

/** Location in a hash that is not for waits for events. */
export function writeLocal(storedIn: string): string {
  return JSON.stringify([storedIn, '', '']);
}

/** @returns undefined if it is stored in its run's partition */
export function readRemote(text: string): RemoteWait | undefined {
  const [isLocal, byName, byValue, paths, path] = JSON.parse(text) as [string | false, string, string, string, string];
  return isLocal === false ? { byName, byValue, paths, path } : undefined;
}
