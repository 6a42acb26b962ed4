import { expect } from 'chai';
import { admissionChecks } from '../../src/jobs/runs/admission/admission-checks.ts';
import { makeChecksDue } from '../support/due-checks.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';
const DAY_MS = 86_400_000;
const CALL = {
  entry: '01JD0000000000000000000000/0',
  executions: 1,
  score: 1,
  backlog: `${ENV}:only-one`,
  info: {
    ...{ env: ENV, functionId: 'app-fn', startsRuns: false, keys: {} },
    limits: [{ id: 'only-one', kind: 'step' as const, limit: 1 }],
  },
};

describe('The check of an admission whose job is not there', () => {
  let store: OwnStore;
  beforeEach(async () => {
    store = await openStore();
    await store.admissions.admit(0, [CALL]);
  });
  afterEach(() => store.close());

  const check = async (clock: () => number) => {
    const { admissions } = store;
    const round = admissionChecks.rounds({
      ...store,
      admission: {
        releaseLost: async (partition: number, entry: string, claimedUntil: number) => {
          await admissions.release(partition, entry, { claimedUntil });
          return [];
        },
      },
      scheduler: { start: async () => undefined },
      queuedRunJobs: { isLive: async () => false },
      clock,
    } as never);
    await round({ partition: 0, signal: new AbortController().signal } as never);
    return admissions.isAdmitted(0, CALL.entry);
  };

  it('comes by the clock of Redis: a worker whose clock is a day ahead leaves its permit to a job about to be added', async () => {
    expect(await check(() => Date.now() + DAY_MS)).to.equal(true);
  });

  it('comes once it is due, whatever the clock of the worker says, and releases the permit', async () => {
    await makeChecksDue(store.redis, store.keys.partition(0));
    expect(await check(() => Date.now() - DAY_MS)).to.equal(false);
  });
});
