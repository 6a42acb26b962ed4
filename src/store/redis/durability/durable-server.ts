/** Whether a Redis can guarantee that a write is on its disk, and how the service knows. Before 7.2 it needs `appendfsync always`, which
 *  answers a write after the sync. Later versions have WAITAOF (disk-barrier.ts). A setting that cannot be verified counts as not set. */
import { ConfigError } from '../../../config.ts';
import { type Redis, toServiceError, unavailable } from '../connection/connection.ts';
import { infoField } from '../connection/server-info.ts';

export interface DurableServer {
  /** Changes with each start of Redis and, if a replica may take over, with each failover. */
  identity: string;
  /** True: WAITAOF reports when a write is on disk; false: Redis answers writes after the sync. */
  hasWaitAof: boolean;
  /** True: Redis syncs every write before it answers; false: later, or unknown. */
  syncsAtOnce: boolean;
}

/** With WAITAOF, any value of appendfsync is sufficient. */
const NEEDED_WITH_WAITAOF: Record<string, string[]> = { appendonly: ['yes'], appendfsync: ['always', 'everysec'] };
const NEEDED_OTHERWISE: Record<string, string[]> = {
  appendonly: ['yes'],
  appendfsync: ['always'],
  // With `yes`, Redis does not sync while it rewrites its file, regardless of appendfsync.
  'no-appendfsync-on-rewrite': ['no'],
};
/** A replica silent for longer counts as not following. */
const LAG_MAX_S = 5;
const OR_LESS = 'or set INGEST_DURABILITY=redis, which guarantees less';

/** @param where address of the server, if there are several
 *  @throws ConfigError if the server cannot guarantee it; ServiceError unavailable if it does not answer */
export async function durableServer(redis: Redis, where?: string): Promise<DurableServer> {
  const info = await redis.info('server', 'persistence').catch((error) => {
    throw toServiceError(error);
  });
  return { identity: infoField(info, 'run_id'), ...(await abilitiesOf(redis, info, where)) };
}

/** Additional requirements for a server that a replica may replace. */
export interface Replicated {
  /** Number of replicas that must have a write, too. */
  replicas: number;
  isCluster: boolean;
  /** Address of the server, if there are several. */
  where?: string;
}

/** Like `durableServer`, for a primary of a cluster or the master named by Sentinels.
 *  @throws ServiceError unavailable also while it has too few replicas or rejects writes */
export async function replicatedServer(
  redis: Redis,
  { replicas, isCluster, where }: Replicated,
): Promise<DurableServer> {
  const reading = [
    redis.info('server', 'persistence', 'replication'),
    ...(isCluster ? [redis.cluster('INFO') as Promise<string>] : []),
  ];
  const [info = '', cluster = ''] = await Promise.all(reading).catch((error) => {
    throw toServiceError(error);
  });
  const identity = historyOf(info, cluster);
  if (identity === undefined) throw unavailable('this Redis has become a replica');
  const abilities = await abilitiesOf(redis, info, where);
  if (followers(info) < replicas) {
    throw unavailable(`no replica follows ${where ? `the Redis at ${where}` : 'this Redis'}`);
  }
  return { identity, ...abilities };
}

/** Identifies a server's write history. A server whose identity has not changed still has all writes that it answered in the meantime:
 *  `master_replid` changes when a replica takes over, and a node's epoch when a hash slot moves to it.
 *  @param info sections server and replication
 *  @param cluster reply to CLUSTER INFO; empty outside of a cluster
 *  @returns undefined for a replica */
export function historyOf(info: string, cluster: string): string | undefined {
  if (infoField(info, 'role') !== 'master') return undefined;
  const parts = [infoField(info, 'run_id'), infoField(info, 'master_replid'), infoField(cluster, 'cluster_my_epoch')];
  return parts.join(' ');
}

/** Number of replicas that follow closely; each reports once a second. */
function followers(info: string): number {
  const replicas = info.split('\n').filter((line) => line.startsWith('slave') && line.includes('state=online,'));
  return replicas.filter((line) => Number.parseInt(line.split(',lag=')[1] ?? '', 10) <= LAG_MAX_S).length;
}

async function abilitiesOf(redis: Redis, info: string, where?: string): Promise<Omit<DurableServer, 'identity'>> {
  const version = infoField(info, 'redis_version');
  const waitAof = hasWaitAof(version);
  const { settings, unreadable } = await readSettings(redis);
  if (unreadable !== undefined && !waitAof) {
    throw refusal(
      version,
      where,
      `does not allow reading its settings (${unreadable}), so durability cannot be checked; ` +
        `allow CONFIG GET, use Redis 7.2 or newer, ${OR_LESS}`,
    );
  }
  const has: Record<string, string> = {
    ...settings,
    appendonly: infoField(info, 'aof_enabled') === '1' ? 'yes' : 'no',
  };
  const wrong = Object.entries(waitAof ? NEEDED_WITH_WAITAOF : NEEDED_OTHERWISE).filter(
    ([name, takes]) => has[name] !== undefined && !takes.includes(has[name]),
  );
  if (wrong.length > 0) {
    const got = wrong.map(([name]) => `${name} ${has[name]}`).join(', ');
    const takes = wrong.map(([name, values]) => `${name} ${values.join(' or ')}`).join(', ');
    throw refusal(version, where, `has ${got}; expected ${takes}: set it in redis.conf or with CONFIG SET, ${OR_LESS}`);
  }
  const syncsAtOnce = settings.appendfsync === 'always' && settings['no-appendfsync-on-rewrite'] !== 'yes';
  return { hasWaitAof: waitAof, syncsAtOnce };
}

function refusal(version: string, where: string | undefined, what: string): ConfigError {
  const server = where === undefined ? `Redis ${version}` : `Redis ${version} at ${where}`;
  return new ConfigError(`INGEST_DURABILITY: got "fsync", but ${server} ${what}`);
}

/** @param version of Redis, or the version that a fork declares compatibility with */
function hasWaitAof(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 7 || (major === 7 && minor >= 2);
}

/** `unreadable`: why the settings cannot be read. Hosted Redis often forbids CONFIG. */
async function readSettings(redis: Redis): Promise<{ settings: Record<string, string>; unreadable?: string }> {
  try {
    const reply = (await redis.config('GET', 'appendfsync', 'no-appendfsync-on-rewrite')) as string[];
    const settings: Record<string, string> = {};
    for (let at = 0; at + 1 < reply.length; at += 2) settings[reply[at] as string] = reply[at + 1] as string;
    return { settings };
  } catch (error) {
    const { message } = error as Error;
    const translated = toServiceError(error);
    if (translated !== error && !message.startsWith('NOPERM')) throw translated;
    return { settings: {}, unreadable: message };
  }
}
