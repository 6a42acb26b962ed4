import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const SOON = { STALLED_AFTER_SECONDS: '1' };

interface SentEvent {
  name?: string;
  data: Record<string, unknown>;
  ts?: number;
  id?: string;
}

describe('batchEvents', () => {
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

  /** As an app of its own for each event. */
  const register = (batchEvents: Record<string, unknown> | undefined, event: string) =>
    host.register(service, [{ id: 'f', triggers: [{ event }], ...(batchEvents && { batchEvents }) }], {
      appName: event.slice(0, event.indexOf('/')),
    });
  const send = async (event: string, events: SentEvent[]): Promise<string[]> =>
    (
      await service.post(
        '/e/key',
        events.map((item) => ({ name: event, ...item })),
      )
    ).body.ids;
  const numbers = (events: { data: { n: number } }[]) => events.map(({ data }) => data.n);

  it('calls the function once with all events of a full batch, in order', async () => {
    await register({ maxSize: 3, timeout: '60s' }, 'full/x');
    const ids = await send('full/x', [{ data: { n: 1 } }, { data: { n: 2 } }, { data: { n: 3 } }]);
    const { body } = await host.nextCall('f');
    expect(numbers(body.events)).to.deep.equal([1, 2, 3]);
    expect(body.event).to.deep.equal(body.events[0]);
    const run = (await service.waitFor(`/v1/runs/${body.ctx.run_id}`, (a) => a.body.data?.status === 'Completed')).body
      .data;
    expect(run.event_ids).to.deep.equal(ids);
    expect([run.event_id, run.batch_id]).to.deep.equal([ids[0], ids[0]]);
    expect(host.calls('f').length).to.equal(1);
  });

  it('calls the function with fewer events when the timeout is over, counted from the first event', async () => {
    await register({ maxSize: 10, timeout: '1s' }, 'due/x');
    const sentAt = Date.now();
    await send('due/x', [{ data: { n: 1 } }]);
    await send('due/x', [{ data: { n: 2 } }]);
    const { body } = await host.nextCall('f');
    expect(numbers(body.events)).to.deep.equal([1, 2]);
    expect(Date.now() - sentAt).to.be.at.least(1_000);
  });

  it('lists the run under each of its events', async () => {
    await register({ maxSize: 2, timeout: '60s' }, 'listed/x');
    const ids = [...(await send('listed/x', [{ data: { n: 1 } }])), ...(await send('listed/x', [{ data: { n: 2 } }]))];
    const { body } = await host.nextCall('f');
    for (const id of ids) {
      const runs = await service.waitFor(`/v1/events/${id}/runs`, (response) => response.body.data?.length === 1);
      expect(runs.body.data[0].run_id).to.equal(body.ctx.run_id);
    }
    const listed = await service.waitFor('/v1/events?name=listed/x&include=runs', ({ body }) => body.data.length === 2);
    for (const event of listed.body.data) expect(event.runs[0].run_id).to.equal(body.ctx.run_id);
  });

  it('has a separate batch for each value of the key', async () => {
    await register({ maxSize: 2, timeout: '60s', key: 'event.data.shop' }, 'keyed/x');
    await send('keyed/x', [
      { data: { n: 1, shop: 'a' } },
      { data: { n: 2, shop: 'b' } },
      { data: { n: 3, shop: 'a' } },
      { data: { n: 4, shop: 'b' } },
    ]);
    const calls = [await host.nextCall('f'), await host.nextCall('f')];
    const batches = calls.map(({ body }) => numbers(body.events).join());
    expect(batches.sort()).to.deep.equal(['1,3', '2,4']);
  });

  it('runs an event alone if it does not match `if`, or `if` cannot be evaluated on it', async () => {
    await register({ maxSize: 2, timeout: '60s', if: 'event.data.bulk == true' }, 'if/x');
    await send('if/x', [
      { data: { n: 1, bulk: true } },
      { data: { n: 2, bulk: false } },
      { data: { n: 3 } },
      { data: { n: 4, bulk: true } },
    ]);
    const calls = [await host.nextCall('f'), await host.nextCall('f'), await host.nextCall('f')];
    const batches = calls.map(({ body }) => numbers(body.events).join());
    expect(batches.sort()).to.deep.equal(['1,4', '2', '3']);
  });

  it('starts the run of a batch no sooner than the ts of its events; an event whose ts is beyond the timeout runs alone', async () => {
    await register({ maxSize: 2, timeout: '2s' }, 'future/x');
    const ts = Date.now() + 1_000;
    await send('future/x', [
      { data: { n: 1 } },
      { data: { n: 9 }, ts: Date.now() + 3_600_000 },
      { data: { n: 2 }, ts },
    ]);
    const { body } = await host.nextCall('f');
    expect(numbers(body.events)).to.deep.equal([1, 2]);
    expect(Date.now()).to.be.at.least(ts);
  });

  it('closes a batch whose payloads reach 10 MiB; the app reads a large one with GET /v0/runs/:run_id/batch', async () => {
    await register({ maxSize: 100, timeout: '60s' }, 'large/x');
    const text = 'x'.repeat(200_000);
    for (let n = 0; n < 54; n++) await send('large/x', [{ data: { n, text } }]);
    const { body } = await host.nextCall('f');
    expect([body.use_api, body.events]).to.deep.equal([true, []]);
    const batch = await service.get(`/v0/runs/${body.ctx.run_id}/batch`);
    const all = numbers(batch.body);
    expect(all[0]).to.equal(body.event.data.n);
    expect(new Set(all).size).to.equal(all.length);
    expect(all.length).to.be.within(50, 53);
  });

  it('includes the events of the batch in a re-run', async () => {
    await register({ maxSize: 2, timeout: '60s' }, 'rerun/x');
    await send('rerun/x', [{ data: { n: 1 } }, { data: { n: 2 } }]);
    const { body } = await host.nextCall('f');
    await service.waitFor(`/v1/runs/${body.ctx.run_id}`, (response) => response.body.data?.status === 'Completed');
    const rerun = await service.post(`/v1/runs/${body.ctx.run_id}/retry`);
    expect(rerun.status, JSON.stringify(rerun.body)).to.be.below(300);
    const again = await host.nextCall('f');
    expect(numbers(again.body.events)).to.deep.equal([1, 2]);
    expect(again.body.ctx.run_id).to.not.equal(body.ctx.run_id);
  });

  it('includes all events of the batch in the failure event', async () => {
    host.on('f', () => ({
      status: 400,
      body: { name: 'Error', message: 'no' },
      headers: { 'x-service-no-retry': 'true' },
    }));
    await host.register(
      service,
      [
        { id: 'f', triggers: [{ event: 'fails/x' }], batchEvents: { maxSize: 2, timeout: '60s' }, retries: 0 },
        { id: 'failed', triggers: [{ event: 'inngest/function.failed' }] },
      ],
      { appName: 'fails' },
    );
    await send('fails/x', [{ data: { n: 1 } }, { data: { n: 2 } }]);
    const { body } = await host.nextCall('failed');
    expect(numbers(body.event.data.events)).to.deep.equal([1, 2]);
    expect(body.event.data.event.data.n).to.equal(1);
  });

  it('runs waiting events at once after a registration without the option, and applies a shorter timeout at once', async () => {
    await register({ maxSize: 10, timeout: '60s' }, 'deploy/x');
    const [id] = await send('deploy/x', [{ data: { n: 1 } }]);
    await service.stored(id);
    await register({ maxSize: 10, timeout: '1s' }, 'deploy/x');
    expect(numbers((await host.nextCall('f')).body.events)).to.deep.equal([1]);
    await register({ maxSize: 10, timeout: '60s' }, 'deploy/x');
    const [second] = await send('deploy/x', [{ data: { n: 2 } }]);
    await service.stored(second);
    await register(undefined, 'deploy/x');
    expect(numbers((await host.nextCall('f')).body.events)).to.deep.equal([2]);
  });

  it('still runs a paused function for the events that it had accepted', async () => {
    await register({ maxSize: 10, timeout: '1s' }, 'paused/x');
    const [id] = await send('paused/x', [{ data: { n: 1 } }]);
    await service.stored(id);
    await service.post('/v1/functions/paused-f/pause');
    expect(numbers((await host.nextCall('f')).body.events)).to.deep.equal([1]);
    await service.post('/v1/functions/paused-f/resume');
  });
});

describe('batchEvents when workers die', () => {
  it('loses and duplicates no event, and exceeds maxSize in no batch, with two workers of which one is killed', async () => {
    const host = await startAppHost();
    const service = await startService({ processes: 'worker', workers: 2, env: { ...SOON, RUN_CONCURRENCY: '20' } });
    try {
      const EVENTS = 2_000;
      await host.register(service, [
        {
          id: 'f',
          triggers: [{ event: 'crash/x' }],
          batchEvents: { maxSize: 7, timeout: '2s', key: 'event.data.key' },
        },
      ]);
      for (let n = 0; n < EVENTS; n += 100) {
        const events = Array.from({ length: 100 }, (_, i) => {
          return { name: 'crash/x', data: { n: n + i, key: (n + i) % 5 } };
        });
        expect((await service.post('/e/key', events)).status).to.equal(200);
        if (n === 500) await until(() => host.calls('f').length > 0, { describe: 'the first batches run' });
        if (n === 1_000) await service.killWorker(0);
      }
      const batches = () => {
        const calls = host.calls('f').map(({ body }): [string, { data: { n: number; key: number } }[]] => {
          return [body.ctx.run_id, body.events];
        });
        return [...new Map(calls).values()];
      };
      await until(() => new Set(batches().flatMap((events) => events.map(({ data }) => data.n))).size === EVENTS, {
        describe: () => `all events run; ${batches().flat().length} do`,
      });
      await until(async () => (await service.get('/v1/runs?status=Queued')).body.data.length === 0, {
        describe: 'no run waits',
      });
      const all = batches();
      expect(all.flat().length, 'each event is in one batch').to.equal(EVENTS);
      expect(Math.max(...all.map((events) => events.length))).to.equal(7);
      for (const events of all) expect(new Set(events.map(({ data }) => data.key)).size).to.equal(1);
    } finally {
      await service.stop();
      await host.close();
    }
  });
});
