/** Moves hash slots between the nodes of a Redis Cluster while it works: with redis-cli, or some of them by the same commands. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { LOOPBACK } from '../ports.ts';
import { Problem } from '../problem.ts';
import type { RedisCluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import { sizeOf } from './view.ts';

/** As redis-cli does by default. */
const USUAL_KEYS_AT_ONCE = 10;
const MIGRATE_MS = 60_000;

export interface MoveOptions {
  /** Keys that a MIGRATE moves at a time; fewer take longer. */
  keysAtOnce?: number;
  /** Default: the one on the PATH. */
  redisCli?: string;
}

/** Moves hash slots until each node has its share. Nodes without a weight have 1; 0 empties a node, and a primary that has none gets some.
 *  @returns redis-cli's output */
export async function rebalance(
  cluster: RedisCluster,
  weights: ReadonlyMap<ClusterNode, number>,
  options: MoveOptions = {},
): Promise<string> {
  const shares = [...weights].map(([{ id }, weight]) => `${id}=${weight}`);
  return redisCli(cluster, options, [
    'rebalance',
    '--cluster-use-empty-masters',
    // It leaves differences below 2 % alone by default.
    '--cluster-threshold',
    '1',
    ...(shares.length > 0 ? ['--cluster-weight', ...shares] : []),
  ]);
}

/** Moves a number of hash slots from one primary to another; default: all of them. */
export async function reshard(
  cluster: RedisCluster,
  from: ClusterNode,
  to: ClusterNode,
  count?: number,
  options: MoveOptions = {},
): Promise<string> {
  const all = sizeOf((await cluster.view()).find(({ id }) => id === from.id)?.ranges ?? []);
  return redisCli(cluster, options, [
    'reshard',
    '--cluster-from',
    from.id,
    '--cluster-to',
    to.id,
    '--cluster-slots',
    String(count ?? all),
    '--cluster-yes',
  ]);
}

/** The hash slots of a primary that have keys. Most have none when few hash tags have all keys. */
export async function usedHashSlots(cluster: RedisCluster, primary: ClusterNode): Promise<number[]> {
  const ranges = (await cluster.view()).find(({ id }) => id === primary.id)?.ranges ?? [];
  const all = ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
  const asked = primary.admin.pipeline();
  for (const hashSlot of all) asked.cluster('COUNTKEYSINSLOT', hashSlot);
  const counts = ((await asked.exec()) ?? []).map(([error, count]) => {
    if (error) throw error;
    return count as number;
  });
  return all.filter((_, index) => counts[index] !== 0);
}

/** Moves a hash slot from one primary to another, as redis-cli does. */
export async function moveHashSlot(
  cluster: RedisCluster,
  hashSlot: number,
  from: ClusterNode,
  to: ClusterNode,
  { keysAtOnce = USUAL_KEYS_AT_ONCE }: MoveOptions = {},
): Promise<void> {
  const primaries = await cluster.primaries();
  // A move of many keys may take longer than a command of `admin`.
  const source = from.admin.duplicate({ commandTimeout: MIGRATE_MS });
  try {
    await to.admin.cluster('SETSLOT', hashSlot, 'IMPORTING', from.id);
    await source.cluster('SETSLOT', hashSlot, 'MIGRATING', to.id);
    const { user = 'default', password } = cluster.settings.credentials ?? {};
    const login = password === undefined ? [] : ['AUTH2', user, password];
    while (await migrateKeys(source, hashSlot, to, keysAtOnce, login));
    for (const { admin } of new Set([to, from, ...primaries])) await admin.cluster('SETSLOT', hashSlot, 'NODE', to.id);
  } finally {
    source.disconnect();
  }
}

/** @returns false: there were none left */
async function migrateKeys(
  source: Redis,
  hashSlot: number,
  { port }: ClusterNode,
  count: number,
  login: readonly string[],
): Promise<boolean> {
  const keys = (await source.cluster('GETKEYSINSLOT', hashSlot, count)).map(String);
  if (keys.length === 0) return false;
  await source.call('MIGRATE', LOOPBACK, String(port), '', '0', String(MIGRATE_MS), ...login, 'KEYS', ...keys);
  return true;
}

/** Ends moves that were interrupted, as `redis-cli --cluster fix` does. */
export async function fix(cluster: RedisCluster, options: MoveOptions = {}): Promise<string> {
  return redisCli(cluster, options, ['fix', '--cluster-yes']);
}

/** @throws Problem with its output if it fails */
async function redisCli(cluster: RedisCluster, options: MoveOptions, command: string[]): Promise<string> {
  const { keysAtOnce, redisCli: file = 'redis-cli' } = options;
  const { credentials } = cluster.settings;
  const responding = cluster.nodes.find(({ responds }) => responds);
  const [name = '', ...rest] = command;
  const child = spawn(
    file,
    [
      ...(credentials?.user ? ['--user', credentials.user] : []),
      '--cluster',
      name,
      `127.0.0.1:${responding?.port}`,
      ...rest,
      ...(keysAtOnce === undefined ? [] : ['--cluster-pipeline', String(keysAtOnce)]),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(credentials && { REDISCLI_AUTH: credentials.password }) },
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const code = await once(child, 'close').then(
    ([code]) => code as number | null,
    (error: Error) => {
      output += error.message;
      return null;
    },
  );
  if (code !== 0) throw new Problem(`redis-cli --cluster ${name} failed (${code}):\n${output}`);
  return output;
}
