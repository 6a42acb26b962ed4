import { expect } from 'chai';
import hashSlotOf from 'cluster-key-slot';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { parseSeed, seededId } from '../../src/model/ids.ts';
import { installationTag, partitionTag } from '../../src/model/partitions/hash-tags.ts';
import { type LayoutVersion, PartitionLayout } from '../../src/model/partitions/layout.ts';
import { PartitionedIds } from '../../src/model/partitions/partitioned-ids.ts';
import { ANNOUNCED_MS, withVersion } from '../../src/store/redis/keyspace/partitions.ts';
import { assignedPartitions } from '../../src/workers/partition-assignment.ts';

const HASH_SLOTS = 16_384;
const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 1);

/** Layouts that have grown one to four times. */
const grown = fc
  .tuple(
    fc.array(fc.tuple(fc.integer({ min: 1, max: 64 }), fc.integer({ min: -200_000, max: 3 * DAY_MS })), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.integer({ min: 1, max: 16 }),
  )
  .map(([raises, first]) => {
    let versions: readonly LayoutVersion[] = [{ count: first, since: 0 }];
    let now = NOW;
    for (const [more, later] of raises) {
      now += later;
      versions = withVersion(versions, (versions.at(-1)?.count ?? 1) + more, now);
    }
    return new PartitionLayout(versions);
  });

describe('A layout of partitions', () => {
  it('only grows, even if the clock of the process that raises it is slow, and each version is announced', () => {
    fc.assert(
      fc.property(grown, (layout) => {
        for (const [i, { count, since }] of layout.versions.entries()) {
          const before = layout.versions[i - 1];
          if (before) expect([count > before.count, since - before.since >= ANNOUNCED_MS]).to.deep.equal([true, true]);
        }
        expect(layout.countAt(Number.MAX_SAFE_INTEGER)).to.equal(layout.count);
      }),
    );
  });

  it('leaves an ID in its partition, however often it grows afterwards', () => {
    fc.assert(
      fc.property(grown, fc.nat(5 * DAY_MS), fc.nat(), fc.nat(255), (layout, later, n, byte) => {
        const at = NOW - DAY_MS + later;
        const known = layout.versions.filter(({ since }) => since <= at + ANNOUNCED_MS);
        const then = new PartitionLayout(known);
        const ids = new PartitionedIds();
        ids.follow(then);
        const partition = n % then.countAt(at);
        const made = ids.inPartition(ulid(at), partition);
        const seed = parseSeed(`${at},${Buffer.alloc(10, byte).toString('base64')}`);
        if (!seed) throw new Error('no seed');
        for (const id of [made, seededId(seed, 1)]) expect(layout.partitionOf(id)).to.equal(then.partitionOf(id));
      }),
    );
  });

  it('has a home for each name, and finds every earlier and every announced one', () => {
    fc.assert(
      fc.property(grown, fc.string(), fc.nat(5 * DAY_MS), fc.nat(5 * DAY_MS), (layout, text, a, b) => {
        const stored = layout.homeOf(text, NOW + a);
        const homes = layout.homesOf(text, NOW + b);
        expect(homes[0]).to.equal(layout.homeOf(text, NOW + b));
        expect(homes).to.include(stored);
        expect(new Set(homes).size).to.equal(homes.length);
      }),
    );
  });

  it('lets two processes claim an ID in the same partition first, even if they receive it up to a day apart and their clocks differ', () => {
    fc.assert(
      fc.property(
        grown,
        fc.string(),
        fc.nat(5 * DAY_MS),
        fc.integer({ min: -30_000, max: DAY_MS }),
        (layout, text, at, apart) => {
          const first = layout.claimHomesOf(text, NOW + at);
          const second = layout.claimHomesOf(text, NOW + at + apart);
          // What the first has claimed last, where it commits, the second looks at before it commits elsewhere, or the reverse.
          const shared = first.filter((home) => second.includes(home));
          expect(shared).not.to.deep.equal([]);
          const inOrder = (homes: number[]) => homes.filter((home) => shared.includes(home));
          expect(inOrder(first)).to.deep.equal(inOrder(second));
        },
      ),
    );
  });
});

describe('Hash tags', () => {
  for (const partitions of [8, 16, 32, 64]) {
    for (const nodes of [3, 4, 6]) {
      it(`spread ${partitions} partitions evenly over ${nodes} nodes`, () => {
        const counts = new Array<number>(nodes).fill(0);
        for (let n = 0; n < partitions; n++) {
          const node = Math.floor((hashSlotOf(`{${partitionTag('service', n)}}:x`) / HASH_SLOTS) * nodes);
          counts[node] = (counts[node] ?? 0) + 1;
        }
        expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
      });
    }
  }

  it('are different for each of 1,024 partitions and the installation, for any prefix', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w-]{1,20}$/), (prefix) => {
        const tags = Array.from({ length: 1_024 }, (_, n) => partitionTag(prefix, n));
        tags.push(installationTag(prefix));
        expect(new Set(tags).size).to.equal(1_025);
      }),
      { numRuns: 5 },
    );
  });
});

describe('Assignment of partitions to workers', () => {
  const workers = fc.uniqueArray(fc.stringMatching(/^[0-9A-Z]{26}$/), { minLength: 1, maxLength: 40 });
  const loads = (ids: readonly string[], count: number) => ids.map((id) => assignedPartitions(id, ids, count));

  it('gives every partition a worker and every worker a partition, and no worker more than its share', () => {
    fc.assert(
      fc.property(workers, fc.integer({ min: 1, max: 64 }), (ids, count) => {
        const assigned = loads(ids, count);
        expect(new Set(assigned.flat()).size).to.equal(count);
        const sizes = assigned.map(({ length }) => length);
        expect(Math.min(...sizes)).to.equal(Math.max(1, Math.floor(count / ids.length)));
        expect(Math.max(...sizes)).to.equal(Math.ceil(count / ids.length));
        const shares = [...Map.groupBy(assigned.flat(), (n) => n).values()].map(({ length }) => length);
        expect(Math.max(...shares)).to.equal(Math.ceil(ids.length / count));
      }),
    );
  });

  it('moves few partitions when a worker joins', () => {
    let moved = 0;
    const ROUNDS = 100;
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[0-9A-Z]{26}$/), { minLength: 8, maxLength: 8 }), (ids) => {
        const before = loads(ids.slice(1), 32);
        const after = loads(ids, 32);
        for (const [i, partitions] of before.entries()) {
          moved += partitions.filter((n) => !after[i + 1]?.includes(n)).length;
        }
      }),
      { numRuns: ROUNDS },
    );
    // Four have to; without regard to what was, 28 of 32 would.
    expect(moved / ROUNDS).to.be.below(12);
  });
});
