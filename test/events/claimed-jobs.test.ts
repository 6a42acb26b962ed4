import { expect } from 'chai';
import { GroupCommit } from '../../src/jobs/acceptance/group-commit.ts';
import { ClaimedJobs } from '../../src/jobs/queues/claimed-jobs.ts';
import type { PartitionQueues } from '../../src/jobs/queues/partition-queues.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import { newId } from '../../src/model/ids.ts';
import type { Claim, Claimed } from '../../src/store/events/deduplication.ts';
import { type OwnStore, openStore, queuesOf } from '../support/own-store.ts';

/** A primary that was replaced and returns may reply to the claims; what follows goes to its successor, which has none of them. */
describe('An event with an ID whose claim is lost before it is enqueued', () => {
  let store: OwnStore;
  let queues: PartitionQueues;
  before(async () => {
    store = await openStore();
    queues = queuesOf(store);
  });
  after(async () => {
    await queues.close();
    await store.close();
  });

  const request = () => ({
    env: 'production',
    source: 'api' as const,
    requestId: newId(Date.now()),
    receivedAt: Date.now(),
  });
  const draft = (id?: string) => ({
    event: { name: 'claimed/x', data: {}, ...(id && { id }) },
    internalId: newId(Date.now()),
    index: 0,
    request: request(),
  });
  const claimKey = (id: string) => store.keys.partition(0).deduplication('production', id);

  /** @param afterClaim called after each claim */
  function commit(afterClaim: (claims: readonly Claim[]) => Promise<unknown> = async () => {}): GroupCommit {
    const claim = async (claims: readonly Claim[]): Promise<Claimed[]> => {
      const claimed = await store.deduplication.claim(claims);
      await afterClaim(claims);
      return claimed;
    };
    const deduplication = { connected: true, claim } as typeof store.deduplication;
    const claimedJobs = new ClaimedJobs(store.redis, store.keys, queues);
    return new GroupCommit(
      { deduplication, claimedJobs, queues, recorder: NOOP_RECORDER, durability: undefined },
      { choose: () => 0, isFixed: true, settled: () => {} },
    );
  }

  const enqueued = async (id: string) => {
    const jobs = await queues.partition(0).ingest.getWaiting();
    return jobs.flatMap(({ data }) => data.events.filter((event) => event.id === id));
  };

  it('is claimed again and enqueued once; a repeat gets the same internal ID', async () => {
    let losses = 0;
    const [id] = await commit(async (claims) => {
      if (losses++ === 0) await store.redis.del(claims.map(({ id }) => claimKey(id)));
    }).add([draft('lost')]);
    expect(losses).to.equal(2);
    expect(await store.redis.get(claimKey('lost'))).to.equal(`${id}+`);
    const again = await commit().add([draft('lost')]);
    expect(again).to.deep.equal([id]);
    const events = await enqueued('lost');
    expect(events.map(({ internalId, repeat = false }) => [internalId, repeat])).to.deep.equal([
      [id, false],
      [id, true],
    ]);
  });

  it('gets the internal ID of an event that claimed it meanwhile', async () => {
    const other = newId(Date.now());
    let isFirst = true;
    const ids = await commit(async () => {
      if (isFirst) await store.redis.set(claimKey('taken'), other);
      isFirst = false;
    }).add([draft('taken')]);
    expect(ids).to.deep.equal([other]);
  });

  it('does not repeat an enqueued job whose claim is lost', async () => {
    const lost = newId(Date.now());
    await store.redis.set(claimKey('enqueued'), `${lost}+`);
    let isFirst = true;
    await commit(async () => {
      // The successor has the claim, and not what followed it.
      if (isFirst) await store.redis.set(claimKey('enqueued'), lost);
      isFirst = false;
    }).add([draft('enqueued')]);
    const [event] = await enqueued('enqueued');
    expect([event?.internalId, event?.repeat]).to.deep.equal([lost, undefined]);
  });

  it('is rejected when its claim keeps getting lost', async () => {
    const committing = commit((claims) => store.redis.del(claims.map(({ id }) => claimKey(id)))).add([
      draft('hopeless'),
    ]);
    const error = await committing.then(
      () => undefined,
      (thrown: { code: string }) => thrown,
    );
    expect(error?.code).to.equal('unavailable');
    expect(await enqueued('hopeless')).to.deep.equal([]);
  });

  it('is enqueued together with events without an ID, and counts once in its job', async () => {
    const [first, second, third] = await commit().add([draft('twin'), draft('twin'), draft()]);
    expect(second).to.equal(first);
    expect(third).not.to.equal(first);
    expect((await enqueued('twin')).map(({ repeat = false }) => repeat)).to.deep.equal([false, true]);
  });
});
