import { expect } from 'chai';
import { until } from '../support/until.ts';
import { type ReplayBed, startReplayBed } from './bed.ts';

// biome-ignore lint/suspicious/noExplicitAny: a response of the API
const isSettled = ({ status, runs }: any) => status === 'done' && runs.active === 0;

describe('The progress of a replay', () => {
  let bed: ReplayBed;
  const fn = (id: string, rest: object = {}) => ({ id, triggers: [{ event: `order/${id}` }], retries: 0, ...rest });
  before(async () => {
    bed = await startReplayBed({ processes: 'worker', workers: 2, env: { STALLED_AFTER_SECONDS: '1' } });
    await bed.register([]);
  });
  after(() => bed?.close());

  /** Events that come before their function does. */
  async function missed(id: string, count: number, options: object = {}) {
    const ids = await bed.send(Array.from({ length: count }, (_, n) => ({ name: `order/${id}`, data: { n } })));
    await bed.register([fn(id, options)]);
    return { ids, wanted: { statuses: ['none'], functions: [`shop-${id}`], filter: { name: `order/${id}` } } };
  }
  const change = async (id: string, what: string, body = {}) => {
    const { status, body: responseBody } = await bed.service.post(`/v1/replays/${id}/${what}`, body);
    return { status, replay: responseBody.data, code: responseBody.code };
  };

  it('keeps to the rate: no more runs in any second of the clock of Redis', async () => {
    const { wanted } = await missed('steady', 60);
    const { id } = await bed.create({ ...wanted, rate: 20 });
    await bed.until(id, isSettled);
    const { body } = await bed.service.get('/v1/runs?function_id=shop-steady&limit=100');
    expect(body.data).to.have.length(60);
    const seconds = Map.groupBy(body.data as { queued_at: string }[], ({ queued_at }) => queued_at.slice(0, 19));
    // A run that is registered at the end of a second may be created in the next.
    const pairs = [...seconds.values()].map((runs) => runs.length);
    expect(Math.max(...pairs)).to.be.at.most(40);
    expect(seconds.size).to.be.at.least(3);
    const granted = await bed.service.redis.hget(bed.service.keys.bulkOperation('production', 'replay', id), 'granted');
    expect(Number(granted)).to.be.within(1, 20);
  });

  it('stops while it is paused, and continues where it was', async () => {
    const { ids, wanted } = await missed('pausable', 12);
    const { id } = await bed.create({ ...wanted, rate: 2 });
    await bed.until(id, ({ progress }) => progress.started >= 2);
    expect((await change(id, 'pause')).replay.status).to.equal('paused');
    expect((await change(id, 'pause')).status).to.equal(200);
    // A portion that was in progress is saved; then it is no longer due.
    await until(
      async () =>
        (await bed.service.redis.zscore(bed.service.keys.dueBulkOperations('replay'), `production/${id}`)) === null,
      {
        describe: 'it rests',
      },
    );
    const { progress } = (await bed.service.get(`/v1/replays/${id}`)).body.data;
    expect(progress.started).to.be.below(ids.length);
    expect((await change(id, 'resume')).replay.status).to.equal('running');
    const done = await bed.until(id, isSettled);
    expect(done.progress).to.include({ started: 12, looked_at: 12 });
    expect((await bed.results(id)).map(({ event_id }) => event_id)).to.deep.equal(ids);
    await bed.runs('pausable', 'Completed', 12);
    expect((await change(id, 'pause')).code).to.equal('replay_ended');
    expect((await change(id, 'resume')).code).to.equal('replay_ended');
  });

  it('ends when it is cancelled, and cancels its active runs on request', async () => {
    bed.host.on('sleeper', () => ({ status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] }));
    const { wanted } = await missed('sleeper', 12);
    const { id } = await bed.create({ ...wanted, rate: 2 });
    await bed.until(id, ({ progress }) => progress.started >= 3);
    expect((await change(id, 'cancel')).replay.status).to.equal('cancelled');
    const resting = await bed.until(id, ({ progress, runs }) => progress.started === runs.active);
    expect(resting.progress.started).to.be.within(3, 11);
    await bed.runs('sleeper', 'Running', resting.progress.started);
    expect((await change(id, 'cancel')).status).to.equal(200);
    expect((await change(id, 'resume')).code).to.equal('replay_ended');
    expect((await change(id, 'cancel', { cancel_runs: true })).replay.status).to.equal('cancelling');
    const ended = await bed.until(id, ({ status }) => status === 'cancelled');
    expect(ended.runs).to.deep.equal({ active: 0, completed: 0, failed: 0, cancelled: ended.progress.started });
    const { body } = await bed.service.get('/v1/runs?function_id=shop-sleeper&limit=1');
    expect(body.data[0].cancel_reason).to.deep.equal({ cause: 'replay', id, by: null });
  });

  it('respects the concurrency of the function', async () => {
    let active = 0;
    let most = 0;
    bed.host.on('narrow', async () => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setImmediate(resolve));
      active--;
      return {};
    });
    const { wanted } = await missed('narrow', 40, { concurrency: 1 });
    const { id } = await bed.create({ ...wanted, rate: 1_000 });
    const done = await bed.until(id, isSettled);
    expect(done.runs).to.deep.equal({ active: 0, completed: 40, failed: 0, cancelled: 0 });
    expect(most).to.equal(1);
  });

  it('replays a batch as a whole, once', async () => {
    const options = { batchEvents: { maxSize: 3, timeout: '1s' } };
    await bed.register([fn('batch', options)]);
    const ids = await bed.send(Array.from({ length: 3 }, (_, n) => ({ name: 'order/batch', data: { n } })));
    await bed.runs('batch', 'Completed', 1);
    const wanted = { statuses: ['Completed'], functions: ['shop-batch'], filter: { name: 'order/batch' } };
    expect(await bed.dryRun(wanted)).to.deep.include({ would_start: 1, skipped: { already_replayed: 2 } });
    const { id } = await bed.create({ ...wanted, rate: 1_000 });
    const done = await bed.until(id, isSettled);
    expect(done.progress).to.deep.include({ started: 1, skipped: { already_replayed: 2 } });
    const [result] = await bed.results(id, '&outcome=started');
    const { body } = await bed.service.get(`/v1/runs/${result?.run_id}`);
    expect(body.data).to.deep.include({ event_ids: ids, replay_id: id });
    expect(bed.host.calls('batch').at(-1)?.body.events).to.have.length(3);
  });

  it('starts each run once, even if its workers are killed repeatedly, and counts them exactly', async () => {
    const COUNT = process.env.TEST_ALL ? 600 : 300;
    const { ids, wanted } = await missed('killed', COUNT);
    const { id } = await bed.create({ ...wanted, rate: COUNT / 3 });
    for (const atLeast of [COUNT / 20, COUNT / 3, (2 * COUNT) / 3]) {
      await bed.until(id, ({ progress }) => progress.started >= atLeast, 60_000);
      await Promise.all(bed.service.workers.filter((worker) => worker.running()).map((worker) => worker.kill()));
      await bed.service.startWorker();
    }
    const done = await bed.until(id, isSettled, 120_000);
    expect(done.progress).to.deep.include({ looked_at: COUNT, started: COUNT, skipped: {}, failed_to_start: {} });
    // A call whose worker was killed too often fails its run.
    const { completed, failed } = done.runs;
    expect(done.runs).to.deep.equal({ active: 0, completed, failed: COUNT - completed, cancelled: 0 });
    const results = await bed.results(id);
    expect(results.map(({ event_id }) => event_id).sort()).to.deep.equal([...ids].sort());
    expect(new Set(results.map(({ run_id }) => run_id)).size).to.equal(COUNT);
    for (const eventId of ids.filter((_, i) => i % 20 === 0)) {
      expect((await bed.service.get(`/v1/events/${eventId}/runs`)).body.data).to.have.length(1);
    }
    await bed.runs('killed', 'Completed', completed);
    await bed.runs('killed', 'Failed', failed);
  }).timeout(180_000);

  it('is limited in number, and deleted with its environment', async () => {
    const { service } = bed;
    await service.post('/v1/environments', { name: 'feature-x', kind: 'branch' });
    const headers = { 'x-service-env': 'feature-x' };
    const body = {
      statuses: ['none'],
      received_after: new Date(Date.now() - 60_000).toISOString(),
      received_before: new Date().toISOString(),
    };
    const { keys, redis } = service;
    const made = await Promise.all(Array.from({ length: 14 }, () => service.post('/v1/replays', body, headers)));
    for (const { status, body: responseBody } of made)
      if (status !== 201) expect(responseBody.code).to.equal('quota_exceeded');
    expect(await redis.scard(keys.openBulkOperations('feature-x', 'replay'))).to.be.at.most(10);
    expect((await service.get('/v1/replays')).body.data.map(({ id }: { id: string }) => id)).to.not.include(
      made.find(({ status }) => status === 201)?.body.data.id,
    );
    expect((await service.request('DELETE', '/v1/environments/feature-x')).status).to.be.within(200, 204);
    await service.waitFor('/v1/environments/feature-x', ({ status }) => status === 404);
    expect(await redis.keys(`${service.prefix}:*bulk-operation*:feature-x*`)).to.deep.equal([]);
    await until(
      async () =>
        (await redis.zrange(keys.dueBulkOperations('replay'), 0, '-1')).every((item) => !item.startsWith('feature-x/')),
      {
        describe: 'nothing of it is due',
      },
    );
  });
});
