import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { bucketKey } from '../support/stored-event.ts';
import { until } from '../support/until.ts';

interface RunView {
  run_id: string;
  function_id: string;
  event_id: string;
  status: string;
  queued_at: string;
  ended_at: string | null;
  retry_of: string | null;
}

const NO_RETRY = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'no' } };

describe('The list of runs', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  async function list(query: string) {
    const { status, body } = await service.get(`/v1/runs?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as { data: RunView[]; metadata: { cursor?: string } };
  }

  async function all(query: string): Promise<RunView[]> {
    const runs: RunView[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`${query}${cursor ? `&cursor=${cursor}` : ''}`);
      runs.push(...page.data);
      cursor = page.metadata.cursor;
    } while (cursor);
    return runs;
  }

  async function send(name: string, count = 1): Promise<string[]> {
    const events = Array.from({ length: count }, (_, n) => ({ name, data: { n } }));
    return (await service.post('/e/key', events)).body.ids;
  }

  const listed = (query: string, count: number) =>
    until(
      async () => {
        const runs = await all(query);
        return runs.length === count && runs;
      },
      { describe: `${count} runs are listed for ${query}` },
    );

  const ids = (runs: RunView[]) => runs.map(({ run_id }) => run_id);

  it('lists the newest run first: of all functions, an app, a function, or an event', async () => {
    const on = { triggers: [{ event: 'mix/x' }] };
    await host.register(
      service,
      ['f', 'g'].map((id) => ({ id, ...on })),
      { appName: 'mix' },
    );
    await host.register(service, [{ id: 'f', ...on }], { appName: 'other' });
    const [first] = await send('mix/x');
    await listed(`event_id=${first}&status=Completed`, 3);
    const [second] = await send('mix/x');
    const ofSecond = await listed(`event_id=${second}&status=Completed`, 3);
    expect(new Set((await all('')).slice(0, 3).map(({ event_id }) => event_id))).to.deep.equal(new Set([second]));
    const functions = (runs: RunView[]) => runs.map(({ function_id }) => function_id).sort();
    expect(functions(await all('app=mix'))).to.deep.equal(['mix-f', 'mix-f', 'mix-g', 'mix-g']);
    expect((await all('function_id=other-f')).map(({ event_id }) => event_id)).to.deep.equal([second, first]);
    expect(functions(await all('app=mix&function_id=other-f'))).to.deep.equal([]);
    expect(functions(ofSecond)).to.deep.equal(['mix-f', 'mix-g', 'other-f']);
    expect(functions(await all(`event_id=${second}&app=other`))).to.deep.equal(['other-f']);
    expect(await all('function_id=nobody')).to.deep.equal([]);
  });

  it('lists runs by status, from their creation to their end', async () => {
    const open = Promise.withResolvers<void>();
    host.on('holds', async () => {
      await open.promise;
      return {};
    });
    host.on('fails', () => NO_RETRY);
    const functions = ['holds', 'fails', 'works'].map((id) => ({ id, triggers: [{ event: `status/${id}` }] }));
    await host.register(service, functions, { appName: 'status' });
    for (const { id } of functions) await send(`status/${id}`);
    const later = Date.now() + 3_600_000;
    await service.post('/e/key', { name: 'status/works', data: {}, ts: later });
    // In this order each status can only be that of one run, however quickly the others pass through it.
    for (const [status, id] of [
      ['Failed', 'fails'],
      ['Completed', 'works'],
      ['Running', 'holds'],
      ['Queued', 'works'],
    ]) {
      const [run] = await listed(`app=status&status=${status}`, 1);
      expect(run).to.include({ status, function_id: `status-${id}` });
    }
    const [queued] = await all('app=status&status=Queued');
    await service.request('DELETE', `/v1/runs/${queued?.run_id}`);
    expect(ids(await all('app=status&status=Cancelled'))).to.deep.equal([queued?.run_id]);
    expect(await all('app=status&status=Queued')).to.deep.equal([]);
    open.resolve();
    await listed('app=status&status=Completed', 2);
    expect(await all('app=status&status=Running')).to.deep.equal([]);
  });

  it('has each run once in pages by cursor while runs are created and end', async () => {
    await host.register(
      service,
      ['f', 'g'].map((id) => ({ id, triggers: [{ event: 'paged/x' }] })),
      { appName: 'paged' },
    );
    await send('paged/x', 20);
    const before = ids(await listed('app=paged', 40));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`app=paged&limit=7${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...ids(page.data));
      cursor = page.metadata.cursor;
      await send('paged/x');
    } while (cursor);
    expect(seen).to.deep.equal(before);
    expect(new Set(seen).size).to.equal(40);
  });

  it('lists runs of archived functions with those of the app and with all', async () => {
    host.on('f', () => NO_RETRY);
    await host.register(service, [{ id: 'f', triggers: [{ event: 'archived/x' }] }], { appName: 'archived' });
    await send('archived/x');
    const [run] = (await listed('app=archived&status=Failed', 1)) as [RunView];
    await host.register(service, [{ id: 'g', triggers: [{ event: 'archived/y' }] }], { appName: 'archived' });
    expect(ids(await all('app=archived'))).to.deep.equal([run.run_id]);
    expect(ids(await all('app=archived&function_id=archived-f'))).to.deep.equal([run.run_id]);
    expect(ids(await all('status=Failed'))).to.include(run.run_id);
    expect(ids(await all('status=Completed'))).not.to.include(run.run_id);
    expect(ids(await all(''))).to.include(run.run_id);
  });

  it('lists runs that were queued in a time range', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'span/x' }] }], { appName: 'span' });
    await send('span/x');
    const [run] = (await listed('app=span', 1)) as [RunView];
    const later = new Date(Date.parse(run.queued_at) + 1).toISOString();
    for (const [query, count] of [
      [`queued_after=${run.queued_at}`, 1],
      [`queued_after=${later}`, 0],
      [`queued_before=${run.queued_at}`, 0],
      [`queued_before=${later}`, 1],
    ] as const) {
      expect((await all(`app=span&${query}`)).length, query).to.equal(count);
      expect((await all(`event_id=${run.event_id}&${query}`)).length, query).to.equal(count);
    }
  });

  it('lists runs of several statuses, separated by commas or repeated, in upper or lower case', async () => {
    host.on('fails', () => NO_RETRY);
    const functions = ['fails', 'works'].map((id) => ({ id, triggers: [{ event: 'several/x' }] }));
    await host.register(service, functions, { appName: 'several' });
    await send('several/x', 2);
    for (const query of ['status=failed,Completed', 'status=Failed&status=Completed']) {
      expect(new Set((await listed(`app=several&${query}`, 4)).map(({ status }) => status))).to.have.keys(
        'Failed',
        'Completed',
      );
    }
    expect(await all('app=several&status=failed,cancelled')).to.have.length(2);
    const { body } = await service.get('/v1/runs?status=failed,canceled');
    expect(body.error).to.include('"canceled" is unknown; expected Queued, Running, Completed, Failed, Cancelled');
  });

  it('lists the runs of an event in pages, with outputs and whole errors unless they are excluded', async () => {
    host.on('f', () => ({ body: { n: 1 } }));
    const functions = ['f', 'g', 'h'].map((id) => ({ id, triggers: [{ event: 'ofevent/x' }] }));
    await host.register(service, functions, { appName: 'ofevent' });
    const [eventId] = await send('ofevent/x');
    await listed(`event_id=${eventId}&status=Completed`, 3);
    const path = `/v1/events/${eventId}/runs`;
    const whole = (await service.get(path)).body.data;
    const paged = [];
    for (let cursor = ''; ; ) {
      const { body } = await service.get(`${path}?limit=1${cursor && `&cursor=${cursor}`}`);
      paged.push(...body.data);
      cursor = body.metadata.cursor;
      if (cursor === undefined) break;
    }
    expect(whole).to.have.length(3).and.to.deep.equal(paged);
    const { body } = await service.get(`${path}?exclude=output`);
    expect(body.data[0]).to.include({ run_id: whole[0].run_id }).and.not.have.any.keys('output');
  });

  it('names the invalid parameter', async () => {
    for (const [query, field] of [
      ['status=Broken', 'status'],
      ['limit=0', 'limit'],
      ['cursor=xyz', 'cursor'],
      ['queued_before=soon', 'queued_before'],
      ['function_id=', 'function_id'],
    ]) {
      const { status, body } = await service.get(`/v1/runs?${query}`);
      expect([status, body.field], query).to.deep.equal([400, field]);
    }
  });

  itOnSingleRedis('removes a few expired runs from an index whenever a run is added', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'kept/x' }] }], { appName: 'kept' });
    await send('kept/x');
    await listed('app=kept&status=Completed', 1);
    const index = `${service.prefix}:runs:production:Completed:kept-f`;
    const longAgo = Date.now() - 8 * 86_400_000;
    await service.redis.zadd(index, longAgo, 'GONE');
    await send('kept/x');
    await listed('app=kept&status=Completed', 2);
    expect(await service.redis.zscore(index, 'GONE')).to.equal(null);
    expect(await service.redis.pttl(index)).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
    expect(await service.redis.exists(`${service.prefix}:runs:production:active:kept-f`)).to.equal(0);
  });

  it('keeps a run that took longer than the retention', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'long/x' }] }], { appName: 'long' });
    await send('long/x');
    const [run] = (await listed('app=long&status=Completed', 1)) as [RunView];
    const longAgo = Date.now() - 30 * 86_400_000;
    await service.redis.hset(`${service.keys.of(run.run_id).prefix}:run:production:${run.run_id}`, 'q', longAgo);
    await service.redis.zadd(
      `${service.keys.of(run.run_id).prefix}:runs:production:Completed:long-f`,
      longAgo,
      run.run_id,
    );
    await send('long/x');
    expect(ids(await listed('app=long&status=Completed', 2))[1]).to.equal(run.run_id);
  });

  it('lists the runs of an event in the order of creation, whatever the time in its ID', async () => {
    host.on('f', () => ({ body: 'done' }));
    host.on('g', () => ({ body: 'done' }));
    await host.register(service, [
      { id: 'f', triggers: [{ event: 'caused/x' }] },
      { id: 'g', triggers: [{ event: 'caused/x' }] },
    ]);
    const entropy = Buffer.from('0123456789').toString('base64');
    const now = Date.now();
    for (const [days, inBucket] of [
      [0, 3],
      [3, 0],
    ] as const) {
      const headers = { 'x-service-event-id-seed': `${now - days * 86_400_000},${entropy}` };
      const { body } = await service.post('/e/key', { name: 'caused/x', data: {} }, headers);
      const [id] = body.ids as [string];
      const ofEvent = async () => (await service.get(`/v1/events/${id}/runs`)).body.data as RunView[];
      const done = (count: number) =>
        until(
          async () => {
            const runs = await ofEvent();
            return runs.filter(({ status }) => status === 'Completed').length === count && runs;
          },
          { describe: `${count} runs of the event are done` },
        );
      const first = ids(await done(2));
      const again = (await service.post(`/v1/runs/${first[0]}/retry`)).body.data.run_id;
      expect(ids(await done(3)), `${days} days`).to.deep.equal([...first, again]);
      expect(ids(await list(`event_id=${id}`).then(({ data }) => data)).sort()).to.deep.equal([...first, again].sort());
      // An event received at another time than its ID says does not extend the retention of events of that time.
      const bucket = await service.redis.hget(
        `${service.keys.of(id).prefix}:event-runs:production:${id.slice(0, 8)}`,
        id.slice(8),
      );
      expect((bucket ?? '').length / 26, `${days} days`).to.equal(inBucket);
      const ttl = await service.redis.pttl(`${service.keys.of(id).prefix}:overflow-event-runs:production:${id}`);
      if (days > 0) expect(ttl).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
      else expect(ttl).to.equal(-2);
    }
  });

  describe('A re-run', () => {
    async function ended(name: string, status: string): Promise<RunView> {
      await send(name);
      return (await listed(`app=${name.split('/')[0]}&status=${status}`, 1))[0] as RunView;
    }
    const retry = (id: string) => service.post(`/v1/runs/${id}/retry`);

    it('creates a new run of the same function on the same event', async () => {
      host.on('f', ({ number }) => (number === 0 ? NO_RETRY : { body: 'well' }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'again/x' }] }], { appName: 'again' });
      const failed = await ended('again/x', 'Failed');
      const { status, body } = await retry(failed.run_id);
      expect(status).to.equal(201);
      const { run_id, ...same } = body.data;
      expect(run_id).not.to.equal(failed.run_id);
      expect(same).to.include({ function_id: 'again-f', event_id: failed.event_id, retry_of: failed.run_id });
      const [completed] = await listed('app=again&status=Completed&fields=output', 1);
      expect(completed).to.include({ run_id, output: 'well', retry_of: failed.run_id });
      expect(ids(await listed('app=again&status=Failed', 1))).to.deep.equal([failed.run_id]);
    });

    it('creates one run at a time, and another once that has ended', async () => {
      const barrier = Promise.withResolvers<void>();
      host.on('f', async ({ number }) => {
        if (number === 1) await barrier.promise;
        return {};
      });
      await host.register(service, [{ id: 'f', triggers: [{ event: 'twice/x' }] }], { appName: 'twice' });
      const { run_id } = await ended('twice/x', 'Completed');
      const [one, same] = await Promise.all([retry(run_id), retry(run_id)]);
      expect(one.body.data.run_id).to.equal(same.body.data.run_id);
      barrier.resolve();
      await listed('app=twice&status=Completed', 2);
      const another = await retry(run_id);
      expect(another.body.data.run_id).not.to.equal(one.body.data.run_id);
      await listed('app=twice&status=Completed', 3);
      expect(host.calls('f').length).to.equal(3);
    });

    it('re-runs a cancelled run, and the event that cancelled it does not cancel the new one', async () => {
      const barrier = Promise.withResolvers<void>();
      host.on('f', async ({ number }) => {
        if (number === 0) await barrier.promise;
        return {};
      });
      const cancel = [{ event: 'cancelled/stop' }];
      await host.register(service, [{ id: 'f', triggers: [{ event: 'cancelled/x' }], cancel }], {
        appName: 'cancelled',
      });
      await send('cancelled/x');
      await host.nextCall('f');
      await send('cancelled/stop');
      const [cancelled] = await listed('app=cancelled&status=Cancelled', 1);
      await retry(cancelled?.run_id as string);
      await listed('app=cancelled&status=Completed', 1);
      barrier.resolve();
    });

    it('rejects a run that is active, or whose function or event no longer exists', async () => {
      await host.register(service, [{ id: 'f', triggers: [{ event: 'refused/x' }] }], { appName: 'refused' });
      const { run_id, event_id } = await ended('refused/x', 'Completed');
      await service.post('/e/key', { name: 'refused/x', data: {}, ts: Date.now() + 3_600_000 });
      const [queued] = await listed('app=refused&status=Queued', 1);
      const code = async (id: string) => {
        const { status, body } = await retry(id);
        return [status, body.code];
      };
      expect(await code('nope')).to.deep.equal([404, 'not_found']);
      expect(await code(queued?.run_id as string)).to.deep.equal([409, 'run_active']);
      await service.redis.del(bucketKey(service, event_id));
      expect(await code(run_id)).to.deep.equal([409, 'event_gone']);
      await host.register(service, [], { appName: 'refused' });
      expect(await code(run_id)).to.deep.equal([409, 'function_archived']);
    });
  });
});
