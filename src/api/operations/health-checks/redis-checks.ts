/** Health checks of Redis: reachable, version, durability, memory, clock, and the nodes of a cluster. */
import type { Config } from '../../../config.ts';
import { readClusterNodes } from '../../../store/redis/cluster/cluster-nodes.ts';
import type { Redis } from '../../../store/redis/connection/connection.ts';
import { readServerVitals, type ServerVitals } from '../../../store/redis/connection/server-vitals.ts';
import { clusterOf } from '../../../store/redis/connection/servers.ts';
import { checkDurability } from '../../../store/redis/durability/durability.ts';
import { type Finding, type HealthCheck, ok, orOk, problem, warning } from './check.ts';

const MIN_MAJOR = 7;
const SLOW_MS = 100;
const NEARLY_FULL = 0.8;
/** Processes create IDs and deadlines by their own clocks. */
const CLOCK_WARNING_MS = 2_000;
const CLOCK_PROBLEM_MS = 10_000;

export function redisChecks(redis: Redis, config: Config): HealthCheck[] {
  const ofServers = (id: string, allWell: string, find: (vitals: ServerVitals) => Finding[]): HealthCheck => ({
    id,
    async run() {
      const found = (await readServerVitals(redis)).flatMap(({ vitals }) => (vitals ? [vitals] : []));
      if (found.length === 0) return [problem('not checked: Redis does not respond', 'See the check "redis".')];
      return orOk(
        found.flatMap((vitals) => find(vitals).map((finding) => at(vitals, finding))),
        allWell,
      );
    },
  });
  return [
    { id: 'redis', run: () => reachable(redis) },
    ofServers('redis_version', `version ${MIN_MAJOR}.0 or newer`, version),
    { id: 'redis_durability', run: () => durability(redis, config) },
    ofServers('redis_persistence', 'accepted events survive a restart of Redis', persistence),
    ofServers('redis_memory', 'there is room', memory),
    ofServers('redis_clock', 'the clocks of Redis and of this process agree', clock),
    ...(clusterOf(redis) ? [{ id: 'redis_cluster', run: () => nodes(redis) }] : []),
  ];
}

function at({ address }: ServerVitals, finding: Finding): Finding {
  return address === undefined ? finding : { ...finding, message: `${address}: ${finding.message}` };
}

async function reachable(redis: Redis): Promise<Finding[]> {
  const servers = await readServerVitals(redis);
  if (servers.length === 0) return [problem('there is no connection to Redis', START)];
  return servers.map(({ address, vitals }) => {
    const name = address === undefined ? 'Redis' : address;
    if (!vitals) return problem(`${name} does not respond`, START);
    const ms = Math.ceil(vitals.roundTripMs);
    if (ms <= SLOW_MS) return ok(`${name} responds in ${ms} ms`);
    return warning(
      `${name} takes ${ms} ms to respond`,
      'Run web and worker near Redis, and look for slow commands (SLOWLOG GET) and a busy processor.',
    );
  });
}

const START = 'Start it, and check REDIS_URL (or REDIS_CLUSTER_URLS, REDIS_SENTINEL_URLS), password and network.';

function version({ version }: ServerVitals): Finding[] {
  if (version === '' || Number.parseInt(version, 10) >= MIN_MAJOR) return [];
  return [problem(`Redis ${version} is too old`, 'Upgrade it to 7.0 or newer.')];
}

async function durability(redis: Redis, config: Config): Promise<Finding[]> {
  const less = await checkDurability(config, redis);
  if (less !== undefined) {
    return [
      warning(
        'INGEST_DURABILITY is auto, and Redis does not sync every write: the last seconds of acknowledged events are lost when its machine fails',
        'Set appendonly yes and appendfsync always in Redis, or INGEST_DURABILITY=redis to accept this.',
      ),
    ];
  }
  return [ok(`INGEST_DURABILITY is ${config.ingestDurability}, and Redis can give what it promises`)];
}

function persistence({ version, appendonly, appendfsync, failedSaves }: ServerVitals): Finding[] {
  if (version === '') return [warning('Redis does not permit INFO', 'Check in its console that appendonly is on.')];
  const found: Finding[] = [];
  if (!appendonly) {
    found.push(problem('appendonly is off: accepted events are lost when Redis crashes', 'Set appendonly yes.'));
  }
  if (appendonly && appendfsync === 'no') {
    const lost = 'appendfsync is no: up to half a minute of events is lost when the machine fails';
    found.push(warning(lost, 'Set appendfsync everysec or always.'));
  }
  for (const name of failedSaves) {
    found.push(
      problem(
        `Redis cannot save what it has (${name} is err)`,
        "Look at Redis's log: usually its disk is full, or fork has no memory (vm.overcommit_memory=1).",
      ),
    );
  }
  return found;
}

function memory({ usedBytes = 0, maxBytes, maxmemoryPolicy }: ServerVitals): Finding[] {
  const found: Finding[] = [];
  if (maxmemoryPolicy !== '' && maxmemoryPolicy !== 'noeviction') {
    const drops = `maxmemory-policy is ${maxmemoryPolicy}: Redis drops accepted events when memory runs out`;
    found.push(problem(drops, 'Set maxmemory-policy noeviction.'));
  }
  if (maxBytes > 0 && usedBytes > NEARLY_FULL * maxBytes) {
    const percent = Math.floor((100 * usedBytes) / maxBytes);
    found.push(
      warning(
        `Redis uses ${percent} % of its memory`,
        'Give it more memory, lower RETENTION_DAYS or WEBHOOK_LOG_SIZE, or add an archive (DATABASE_URL).',
      ),
    );
  }
  return found;
}

function clock({ clockAheadMs, roundTripMs }: ServerVitals): Finding[] {
  const offMs = Math.abs(clockAheadMs) - roundTripMs / 2;
  if (offMs < CLOCK_WARNING_MS) return [];
  const seconds = (Math.abs(clockAheadMs) / 1_000).toFixed(1);
  const message = `the clock of Redis is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} that of this process`;
  return [(offMs < CLOCK_PROBLEM_MS ? warning : problem)(message, SYNC_CLOCKS)];
}

export const SYNC_CLOCKS = 'Synchronize the clocks of all machines by NTP (chrony, systemd-timesyncd).';

async function nodes(redis: Redis): Promise<Finding[]> {
  const cluster = clusterOf(redis);
  if (!cluster) return [];
  const { primaries, replicas, unservedHashSlots } = await readClusterNodes(cluster);
  const found = primaries
    .filter((primary) => primary.replicas === 0)
    .map(({ address }) =>
      warning(`no replica follows ${address}: when it fails, its partitions are down`, 'Add a replica for it.'),
    );
  if (unservedHashSlots > 0) {
    found.push(
      problem(
        `${unservedHashSlots} of 16384 hash slots have no node: the events of their partitions are rejected`,
        'Bring the failed primary back, or let a replica take over (redis-cli --cluster fix).',
      ),
    );
  }
  return orOk(found, `${primaries.length} primaries and ${replicas} replicas serve all hash slots`);
}
