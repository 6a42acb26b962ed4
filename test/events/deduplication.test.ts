import { expect } from 'chai';
import { ulid } from 'ulid';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { bucketKey } from '../support/stored-event.ts';
import { until } from '../support/until.ts';

describe('Events with a deduplication ID', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ webs: 2, workers: 2 });
    host = await startAppHost();
    await host.register(service, [
      { id: 'one', triggers: [{ event: 'once/x' }] },
      { id: 'two', triggers: [{ event: 'once/*' }] },
    ]);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const send = (event: object, web = 0) => request('POST', `${service.urls[web]}/e/key`, { body: event });
  const duplicates = async (id: string) => (await service.get(`/v1/events/${id}`)).body.data?.duplicates;

  it('create one event and one run per function when 50 clients send at once, and all get the same internal ID', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => send({ id: 'payment-1', name: 'once/x', data: { sender: i } }, i % 2)),
    );
    const ids = new Set(responses.map(({ body }) => body.ids[0]));
    expect(ids.size).to.equal(1);
    const [id] = ids as Set<string>;
    await until(async () => (await duplicates(id as string)) === 49, {
      describe: '49 repeats are counted on the first',
    });
    const runs = await until(
      async () => {
        const found = (await service.get(`/v1/events/${id}/runs`)).body.data as {
          status: string;
          function_id: string;
        }[];
        return found.every(({ status }) => status === 'Completed') && found.length === 2 ? found : undefined;
      },
      { describe: 'both runs are done' },
    );
    expect(runs.map(({ function_id }) => function_id).sort()).to.deep.equal(['test-app-one', 'test-app-two']);
    expect(host.calls('one').length).to.equal(1);
    expect(host.calls('two').length).to.equal(1);
    expect((await service.get('/v1/events?name=once/x')).body.data.length).to.equal(1);
  });

  it('are ignored regardless of name and payload, even by functions that registered in between', async () => {
    const first = await send({ id: 'global', name: 'other/a', data: { n: 1 } });
    const id = first.body.ids[0];
    // The index entry comes after the functions of the event have been found.
    await service.waitFor('/v1/events?name=other/a', ({ body }) => body.data.length === 1);
    await host.register(service, [{ id: 'late', triggers: [{ event: 'other/a' }, { event: 'other/b' }] }], {
      appName: 'late',
    });
    const again = await send({ id: 'global', name: 'other/b', data: { n: 2 } });
    expect(again.body.ids).to.deep.equal([id]);
    await until(async () => (await duplicates(id)) === 1, { describe: 'the repeat is counted' });
    const event = (await service.get(`/v1/events/${id}`)).body.data;
    expect([event.name, event.data]).to.deep.equal(['other/a', { n: 1 }]);
    expect((await service.get('/v1/events?name=other/b')).body.data).to.deep.equal([]);
    expect((await service.get(`/v1/events/${id}/runs`)).body.data).to.deep.equal([]);
  });

  it('count once within one array', async () => {
    const { body } = await send([
      { id: 'twin', name: 'twin/x', data: {} },
      { id: 'twin', name: 'twin/x', data: {} },
    ]);
    expect(body.ids[0]).to.equal(body.ids[1]);
    await until(async () => (await duplicates(body.ids[0])) === 1, { describe: 'the twin is counted' });
  });

  it('are remembered for 24 hours, and their events at least as long', async () => {
    const { body } = await send({ id: 'window', name: 'window/x', data: {} });
    const dedupTtl = await service.redis.pttl(
      `${service.keys.homesOf('production', 'window')[0].prefix}:dedup:production:window`,
    );
    expect(dedupTtl).to.be.within(86_400_000 - 60_000, 86_400_000);
    await service.stored(body.ids[0]);
    expect(await service.redis.pttl(bucketKey(service, body.ids[0]))).to.be.greaterThan(dedupTtl);
  });

  it('are not lost when the process died after the claim: the next send gets the same internal ID', async () => {
    const [home] = service.keys.homesOf('production', 'orphan');
    // In its partition, as web has it.
    let claimed: string;
    do claimed = ulid();
    while (service.keys.of(claimed).number !== home.number);
    await service.redis.set(`${home.prefix}:dedup:production:orphan`, claimed, 'PX', 86_400_000);
    const { body } = await send({ id: 'orphan', name: 'orphan/x', data: { kept: true } });
    expect(body.ids).to.deep.equal([claimed]);
    const event = await until(async () => (await service.get(`/v1/events/${claimed}`)).body.data, {
      describe: 'the event is stored',
    });
    expect([event.data, event.duplicates]).to.deep.equal([{ kept: true }, 0]);
  });
});

describe('A repeat of an accepted event', () => {
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0, env: { INGEST_CONCURRENCY: '1' } });
  });
  after(() => service.stop());

  it('only increases the count of duplicates, even when its job overtakes the first one', async () => {
    const send = (data: object) => service.post('/e/key', { id: 'overtaken', name: 'overtaken/x', data });
    const first = await send({ first: true });
    const repeat = await send({ first: false });
    expect(repeat.body.ids).to.deep.equal(first.body.ids);
    // The job that would be taken last comes first.
    const waiting = `${service.keys.of(first.body.ids[0]).prefix}:queue:ingest:wait`;
    expect(await service.redis.llen(waiting)).to.equal(2);
    await service.redis.lmove(waiting, waiting, 'LEFT', 'RIGHT');

    await service.startWorker();
    const { body } = await service.waitFor(
      `/v1/events/${first.body.ids[0]}`,
      ({ body }) => body.data?.duplicates === 1,
    );
    expect(body.data.data).to.deep.equal({ first: true });
  });
});
