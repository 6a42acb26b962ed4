import { type Job, UnrecoverableError } from 'bullmq';
import { expect } from 'chai';
import { AttemptFailed } from '../../src/jobs/runs/calls/service-errors.ts';
import { unavailable } from '../../src/store/redis/connection/connection.ts';
import type { Durability } from '../../src/store/redis/durability/durable-write.ts';
import { withReplication } from '../../src/workers/job-middleware.ts';

const JOB = {} as Job<object>;

describe('A job when a replica may take over', () => {
  /** @param lost whether what the work wrote is on no replica */
  function durability({ isReplicated = true, lost = false } = {}): Durability & { confirmed: number } {
    return {
      isReplicated,
      confirmed: 0,
      async during(work) {
        const done = await work();
        if (lost) throw unavailable('a primary was replaced');
        this.confirmed++;
        return done;
      },
      begin: () => Promise.reject(new Error('unused')),
      afterwards: async (work) => void (await work()),
      close: () => {},
    };
  }
  const outcome = (handler: () => Promise<void>, of: Durability) =>
    withReplication(
      handler,
      of,
    )(JOB).then(
      () => 'completed',
      (error: Error) => error,
    );
  const succeed = async () => {};
  const fail = (error: Error) => () => Promise.reject(error);

  it('ends when all of its writes are on a replica', async () => {
    const replicated = durability();
    expect(await outcome(succeed, replicated)).to.equal('completed');
    expect(replicated.confirmed).to.equal(1);
  });

  it('is repeated when its writes may be lost, even if its run has failed permanently', async () => {
    for (const handler of [succeed, fail(new UnrecoverableError('no more attempts'))]) {
      expect(await outcome(handler, durability({ lost: true }))).to.have.property('code', 'unavailable');
    }
  });

  it('does not wait after a failed attempt that another follows', async () => {
    const failed = new AttemptFailed({ name: 'Error', message: 'of the app' });
    const replicated = durability({ lost: true });
    expect(await outcome(fail(failed), replicated)).to.equal(failed);
  });

  it('does not wait if no replica may take over', async () => {
    const single = durability({ isReplicated: false, lost: true });
    expect(await outcome(succeed, single)).to.equal('completed');
  });
});
