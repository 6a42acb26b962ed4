/** Makes a Redis Cluster of empty nodes. As `redis-cli --cluster create`, which is not needed for it, and without its pauses. */
import { LOOPBACK } from '../ports.ts';
import type { ClusterNode } from './node.ts';
import { equalRanges } from './view.ts';
import { waitUntil } from './wait.ts';

const JOIN_MS = 20_000;

/** @param nodes the primaries first, then the first replica of each, then the second … */
export async function join(nodes: readonly ClusterNode[], primaries: number): Promise<void> {
  const ranges = equalRanges(primaries);
  await Promise.all(
    nodes.slice(0, primaries).map(async ({ admin }, index) => {
      // Different ones, so that the nodes need not agree on them first.
      await admin.cluster('SET-CONFIG-EPOCH', index + 1);
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', ...(ranges[index] ?? []).map(String));
    }),
  );
  // Each with each: the first gossip would take a second.
  for (const [index, { admin }] of nodes.entries()) {
    const others = nodes.slice(index + 1);
    await Promise.all(
      others.map(({ port, busPort }) => admin.call('CLUSTER', 'MEET', LOOPBACK, String(port), String(busPort))),
    );
  }
  await Promise.all(nodes.map((node) => knowsAll(node, nodes)));
  await Promise.all(
    nodes.slice(primaries).map(({ admin }, index) => admin.cluster('REPLICATE', nodes[index % primaries]?.id ?? '')),
  );
}

function knowsAll(node: ClusterNode, all: readonly ClusterNode[]): Promise<unknown> {
  const check = async () => {
    const known = new Set((await node.view()).filter(({ hasFailed }) => !hasFailed).map(({ id }) => id));
    return all.every(({ id }) => known.has(id)) || undefined;
  };
  return waitUntil(check, `node ${node.index} knows the others`, JOIN_MS);
}
