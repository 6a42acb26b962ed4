/** A Redis Cluster: three primaries with a replica each. Each node syncs every write before it replies. */
import { join } from 'node:path';
import { startCluster } from '../../scripts/lib/cluster/cluster.ts';
import { injectFaults } from '../attack.ts';
import { Outages } from '../checks/outages.ts';
import { FAULTS_ON_CLUSTER } from '../faults/faults.ts';
import type { Options } from '../options.ts';
import type { Target } from './target.ts';

/** Longer than this machine may be busy with something else, as with killed and starting processes. */
const NODE_TIMEOUT_MS = 2_000;

/** The default, and what a busy machine with two CPUs has time for. */
const PARTITIONS = { long: 32, short: 8 };

export async function redisCluster(dir: string, { short }: Options): Promise<Target> {
  const partitions = short ? PARTITIONS.short : PARTITIONS.long;
  const cluster = await startCluster({
    dir: join(dir, 'cluster'),
    appendfsync: 'always',
    nodeTimeoutMs: NODE_TIMEOUT_MS,
  });
  let outages: Outages | undefined;
  return {
    settings: { REDIS_CLUSTER_URLS: cluster.urls.join(','), PARTITIONS: String(partitions) },
    partitions,
    inject(context, ledger, timeline, options) {
      outages = new Outages(context.service, ledger, timeline);
      return injectFaults(FAULTS_ON_CLUSTER, { ...context, cluster, outages, movesOnlyUsed: short }, timeline, options);
    },
    primaries: async () => (await cluster.primaries()).map(({ admin }) => admin),
    counts: () => [
      {
        name: 'failures of a primary in which no event was acknowledged',
        most: 0,
        figure: outages?.total.length ?? 0,
        findings: outages?.total ?? [],
      },
    ],
    load: () => ({
      'requests acknowledged while a primary was down': outages?.acknowledged ?? 0,
      'requests repeated while a primary was down': outages?.repeated ?? 0,
    }),
    close: () => cluster.stop(),
  };
}
