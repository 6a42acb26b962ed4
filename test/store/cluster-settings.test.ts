import { expect } from 'chai';
import { findingsOf } from '../../src/store/redis/cluster/cluster-check.ts';

describe('The settings of the nodes of a cluster with INGEST_DURABILITY=fsync', () => {
  const NODE = 'the primary node:1';

  it('must not let a replica take over that has missed much', () => {
    const { problems } = findingsOf('the replica node:2', false, { 'cluster-replica-validity-factor': 0 });
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/the replica node:2 has cluster-replica-validity-factor 0.*Set 1 or more/);
  });

  it('should stop an isolated primary, and replace it soon', () => {
    const settings = { 'cluster-node-timeout': 60_000, 'min-replicas-to-write': 0 };
    const { problems, warnings } = findingsOf(NODE, true, settings);
    expect(problems).to.deep.equal([]);
    expect(warnings.map((text) => /(\S+) \d+:/.exec(text)?.[1])).to.deep.equal([
      'cluster-node-timeout',
      'min-replicas-to-write',
    ]);
    expect(findingsOf('the replica node:2', false, { 'min-replicas-to-write': 0 }).warnings).to.deep.equal([]);
  });

  it('are accepted as docs/deploy.md names them, and if they cannot be read', () => {
    const good = { 'cluster-replica-validity-factor': 10, 'cluster-node-timeout': 5_000, 'min-replicas-to-write': 1 };
    for (const settings of [good, {}]) {
      expect(findingsOf(NODE, true, settings)).to.deep.equal({ problems: [], warnings: [] });
    }
  });
});
