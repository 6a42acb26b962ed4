import { expect } from 'chai';
import fc from 'fast-check';
import { decodeTime } from 'ulid';
import { ID_PATTERN, newId, parseSeed, seededId, timeOf } from '../../src/model/ids.ts';
import { PartitionedIds } from '../../src/model/partitions/partitioned-ids.ts';

const PARENT = '01KAZ8Q4M3T5V7X9Z1B3D5F7H9';

describe('Internal IDs', () => {
  it('are ULIDs with the time of their creation', () => {
    // Later than the last ID of this process, which an ID of the same second does not go behind.
    const at = Date.now() + 1_000;
    const id = newId(at);
    expect(id).to.match(ID_PATTERN);
    expect(decodeTime(id)).to.equal(at);
  });

  it('sort in the order of their creation, also when the clock goes back a little', () => {
    const at = Date.now() + 2_000;
    const ids = [at, at, at - 900, at - 900, at + 1].map((ms) => newId(ms));
    expect(ids.toSorted()).to.deep.equal(ids);
  });

  it('have the present time after the clock was set back', () => {
    const now = Date.now();
    newId(now + 600_000);
    const [first, second] = [newId(now), newId(now)];
    expect([first, second].map(decodeTime)).to.deep.equal([now, now]);
    expect(second > first).to.equal(true);
  });

  it('from a seed are deterministic, have its time, and differ per event', () => {
    const seed = parseSeed(`1700000000000,${Buffer.alloc(10, 7).toString('base64')}`);
    if (!seed) throw new Error('no seed');
    expect(seededId(seed, 1)).to.equal(seededId(seed, 1));
    expect(seededId(seed, 1)).not.to.equal(seededId(seed, 2));
    expect(decodeTime(seededId(seed, 3))).to.equal(1_700_000_000_000);
  });

  it('from a seed add the index of the event to the last four bytes, with wrap-around', () => {
    const zeros = parseSeed(`0,${Buffer.alloc(10).toString('base64')}`);
    const full = parseSeed(`0,${Buffer.from('000000000000ffffffff', 'hex').toString('base64')}`);
    if (!zeros || !full) throw new Error('no seed');
    expect(seededId(zeros, 1)).to.equal('00000000000000000000000001');
    expect(seededId(zeros, 32)).to.equal('00000000000000000000000010');
    expect(seededId(full, 1)).to.equal('00000000000000000000000000');
  });

  it('reject seeds other than milliseconds and ten bytes', () => {
    for (const header of [
      '',
      'x',
      '1700000000000',
      '1700000000000,',
      '1,AAAA',
      'x,AAAAAAAAAAAAAA==',
      '999999999999999,AAAAAAAAAAAAAA==',
    ]) {
      expect(parseSeed(header), header).to.equal(undefined);
    }
  });

  it('derived from the same parent and parts are equal, and otherwise differ', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const parent = '01M7Z7A7B6FJ7DZJVGC757486T';
        const ids = new PartitionedIds();
        expect(ids.derived(parent, 'run', a)).to.equal(ids.derived(parent, 'run', a));
        if (a !== b) expect(ids.derived(parent, 'run', a)).not.to.equal(ids.derived(parent, 'run', b));
      }),
    );
  });

  // Another value would repeat what jobs of an earlier version have begun.
  for (const [installation, since, run, ownEvent] of [
    ['one partition', Number.POSITIVE_INFINITY, '01KAZ8Q4M3YR23T6KXRFWV5XA5', '01KAZ8Q4M3SYSTEMW7MQ2AWP1K'],
    ['several partitions', 0, '01KAZ8Q4M3YR23T6Z1RFWV5XA5', '01KAZ8Q4M3SYSTEMZ1MQ2AWP1K'],
    ['several partitions later', timeOf(PARENT) + 1, '01KAZ8Q4M3YR23T6KXRFWV5XA5', '01KAZ8Q4M3SYSTEMW7MQ2AWP1K'],
  ] as const) {
    it(`derived in an installation with ${installation} are the same in every version`, () => {
      const ids = new PartitionedIds();
      ids.follow({ partitionedSince: since });
      expect([ids.derived(PARENT, 'run', 'f'), ids.derivedEvent(PARENT, 'failed')]).to.deep.equal([run, ownEvent]);
    });
  }

  it('of one installation do not depend on the partitions of another in the same process', () => {
    const [one, other] = [new PartitionedIds(), new PartitionedIds()];
    one.follow({ partitionedSince: 0 });
    expect(one.inPartition(PARENT, 37)).to.equal('01KAZ8Q4M3T5V7X915B3D5F7H9');
    expect(other.inPartition(PARENT, 37)).to.equal(PARENT);
    expect(other.ownEvent(timeOf(PARENT), 5, 'schedule', 'production', 'f')).to.equal('01KAZ8Q4M3SYSTEMA6VHAS5ERH');
    expect(one.ownEvent(timeOf(PARENT), 5, 'schedule', 'production', 'f')).to.equal('01KAZ8Q4M3SYSTEM05VHAS5ERH');
  });
});
