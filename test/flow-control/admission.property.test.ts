/** Random clients of admission against a model; a failure names its seed. */
import { expect } from 'chai';
import { Admissions, partsOf } from '../../src/store/flow-control/admissions.ts';
import { readBacklogInfo } from '../../src/store/flow-control/backlog-info.ts';
import { withScripts } from '../../src/store/redis/connection/scripts.ts';
import type { PartitionKeyspace } from '../../src/store/redis/keyspace/keyspace.ts';
import { makeChecksDue } from '../support/due-checks.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';
import { AdmissionModel } from './admission-model.ts';

const CALLS = 10_000;
const SEEDS = 25;
/** The state in Redis is looked at after so many operations. */
const LOOK_EVERY = 20;

describe('The admission of 10,000 calls', function () {
  this.timeout(600_000);
  let store: OwnStore;
  let admissions: Admissions;
  beforeEach(async () => {
    store = await openStore();
    admissions = new Admissions(withScripts(store.redis), store.keys, { checkMs: 1_000 });
  });
  afterEach(() => store.close());

  it('exceeds no limit, keeps the order, admits each call once, and leaves nothing behind', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const partition = seed % store.partitions.layout.count;
      const model = new AdmissionModel({
        ...{ admissions, partition, seed, calls: CALLS / SEEDS },
        makeChecksDue: () => makeChecksDue(store.redis, store.keys.partition(partition)),
      });
      try {
        for (let n = 0; n < (6 * CALLS) / SEEDS; n++) {
          await model.step();
          if (n % LOOK_EVERY === 0) await expectNoneStuck(partition, model);
        }
        await model.drain();
        expect(await leftovers(), 'keys that are left').to.deep.equal([]);
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });

  it('checks a changed function in its own environment, even if names have slashes', async () => {
    const given = [
      { env: 'production', functionId: 'shop/pay-all' },
      { env: 'feature/1', functionId: 'shop-f' },
      { env: 'feature/1', functionId: 'my shop/f' },
    ];
    for (const { env, functionId } of given) await admissions.noteChange([`${env}/${functionId}`], env, [functionId]);
    const checks = [];
    for (let n = 0; n < store.partitions.layout.count; n++) checks.push(...(await admissions.claimChecks(n)));
    const found = checks.map(({ kind, ...check }) => kind === 'function' && 'functionId' in check && check);
    expect(found.map((check) => check && { env: check.env, functionId: check.functionId })).to.have.deep.members(given);
  });

  /** What waits first for a limit waits for good reason: the limit is full, or something is going to look at it. */
  async function expectNoneStuck(partition: number, { backlogs }: AdmissionModel): Promise<void> {
    const keys = store.keys.partition(partition);
    const ids = new Set(backlogs.flatMap(({ info }) => info.limits.map(({ id }) => id)));
    for (const id of ids) {
      const [first] = await store.redis.zrange(keys.limitBacklogs(id), 0, '0');
      if (first === undefined || (await store.redis.zscore(keys.admissionChecks, `!${id}`)) !== null) continue;
      expect(await isFull(keys, id, first), `${first} waits for ${id}`).to.equal(true);
    }
  }

  async function isFull(keys: PartitionKeyspace, id: string, backlog: string): Promise<boolean> {
    const text = await store.redis.get(keys.backlogInfo(...partsOf(backlog)));
    const size = text === null ? 0 : (readBacklogInfo(text).limits.find((limit) => limit.id === id)?.limit ?? 0);
    return (await store.redis.scard(keys.limit(id))) >= size;
  }

  const KEYS = /^:(backlog|limit|admission|held-backlogs|function-backlogs|waiting-calls)/;
  const leftovers = () => findKeys(store.redis, store.prefix, KEYS);
});
