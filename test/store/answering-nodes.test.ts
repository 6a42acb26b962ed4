import { expect } from 'chai';
import { AnsweringNodes } from '../../src/store/redis/cluster/answering-nodes.ts';
import type { Redis } from '../../src/store/redis/connection/connection.ts';

const HASH_SLOT = 7;

/** A connection to one node. */
function connectionTo(port: number): { redis: Redis; send(hashSlot?: number): void } {
  const redis = {
    options: { host: 'node', port },
    sendCommand: (_command: object) => {},
  };
  return {
    redis: redis as unknown as Redis,
    send: (hashSlot = HASH_SLOT) => redis.sendCommand({ getSlot: () => hashSlot }),
  };
}

describe('The nodes that answer the commands of a process', () => {
  const followed = () => {
    const nodes = new AnsweringNodes();
    const connections = [1, 2, 1].map((port) => connectionTo(port));
    for (const { redis } of connections) nodes.follow(redis);
    return {
      nodes,
      connections: connections as [(typeof connections)[0], (typeof connections)[0], (typeof connections)[0]],
    };
  };

  it('are the same for a hash slot until one of several connections sends to another', () => {
    const { nodes, connections } = followed();
    const [first, second, alsoFirst] = connections;
    const before = nodes.changes;
    first.send();
    alsoFirst.send();
    second.send(HASH_SLOT + 1);
    expect(nodes.sameSince(HASH_SLOT, before)).to.equal('node:1');
    second.send();
    expect(nodes.sameSince(HASH_SLOT, before)).to.equal(undefined);
    expect(nodes.sameSince(HASH_SLOT, nodes.changes)).to.equal('node:2');
  });

  it('change when the first one is asked again, such as a replaced primary that a connection still uses', () => {
    const { nodes, connections } = followed();
    const [first, second] = connections;
    first.send();
    const before = nodes.changes;
    second.send();
    first.send();
    expect(nodes.sameSince(HASH_SLOT, before)).to.equal(undefined);
  });

  it('are unknown for a hash slot without commands', () => {
    expect(followed().nodes.sameSince(HASH_SLOT, 0)).to.equal(undefined);
  });

  it('show which hash slots an operation uses, even after it has waited', async () => {
    const { nodes, connections } = followed();
    const [first] = connections;
    const used = new Set<number>();
    await nodes.watch(used, async () => {
      first.send(1);
      await Promise.resolve();
      first.send(2);
    });
    first.send(3);
    expect([...used]).to.deep.equal([1, 2]);
  });
});
