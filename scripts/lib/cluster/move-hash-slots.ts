/** Moves hash slots between the nodes of a Redis Cluster while it works, with redis-cli. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Problem } from '../problem.ts';
import type { RedisCluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import { sizeOf } from './view.ts';

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
