/** Where a wait is stored. A run knows it of each of its waits, so that its end removes them all: `run:…:waits` has it as JSON. In the run's own
 *  partition these are the hash that holds the wait, the paths of its name, and its path among those or ''. Elsewhere it is `false`, then the
 *  hashes of its name, of its name and value, and of the paths of its name, and its path or ''. */
import type { PartitionKeyspace } from '../redis/keyspace.ts';

/** A wait that is stored in another partition than its run. */
export interface RemoteWait {
  byName: string;
  byValue: string;
  paths: string;
  path: string;
}

export interface WaitPlace {
  eventName: string;
  /** Value that one field of the event must have. */
  digest?: string | undefined;
  /** JSON; '': none. */
  path: string;
}

export function remoteWait(
  keys: PartitionKeyspace,
  env: string,
  { eventName, digest = '', path }: WaitPlace,
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

/** For a hash that is not of waits for events. */
export function writeLocal(storedIn: string): string {
  return JSON.stringify([storedIn, '', '']);
}

/** @returns undefined: it is stored in the partition of its run */
export function readRemote(text: string): RemoteWait | undefined {
  const [isLocal, byName, byValue, paths, path] = JSON.parse(text) as [string | false, string, string, string, string];
  return isLocal === false ? { byName, byValue, paths, path } : undefined;
}
