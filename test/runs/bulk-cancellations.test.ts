import { expect } from 'chai';
import { rawJson } from '../../src/model/values/json.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const SLEEPS = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };

describe('Bulk cancellations', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    for (const id of ['one', 'two', 'many', 'long']) host.on(id, () => SLEEPS);
    const functions = ['one', 'two', 'many', 'long'].map((id) => ({ id, triggers: [{ event: `bulk/${id}` }] }));
    host.offer(service, functions, { appName: 'bulk' });
    await service.post('/v1/apps', { url: host.url });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function start(id: string, events: object[]): Promise<void> {
    const { body } = await service.post(
      service.eventPath,
      events.map((data) => ({ name: `bulk/${id}`, data })),
    );
    const last = `/v1/events/${body.ids.at(-1)}/runs`;
    await service.waitFor(last, ({ body: runs }) => runs.data?.[0]?.run_started_at);
  }
  const create = (body: object) => service.post('/v1/cancellations', body);
  const later = (ms: number) => new Date(Date.now() + ms).toISOString();
  const runsOf = async (id: string, status: string) =>
    (await service.get(`/v1/runs?function_id=bulk-${id}&status=${status}&limit=100`)).body.data.length;
  const done = (id: string, cancelled: number) =>
    service.waitFor('/v1/cancellations', ({ body }) =>
      body.data.some(
        (one: { id: string; cancelled_runs: number }) => one.id === id && one.cancelled_runs === cancelled,
      ),
    );

  it('cancel only runs of a function whose event matches the expression', async () => {
    await start('one', [{ tenant: 'a' }, { tenant: 'b' }, { tenant: 'a' }]);
    await start('two', [{ tenant: 'a' }]);
    const body = { app_id: 'bulk', function_id: 'one', started_before: later(5_000), if: 'event.data.tenant == "a"' };
    const { status, body: responseBody } = await create(body);
    expect(status, JSON.stringify(responseBody)).to.equal(200);
    expect(responseBody.data).to.include({ function_id: 'bulk-one', app_id: 'bulk', done_at: null, if: body.if });
    await done(responseBody.data.id, 2);
    expect([await runsOf('one', 'Cancelled'), await runsOf('one', 'Running')]).to.deep.equal([2, 1]);
    expect(await runsOf('two', 'Running')).to.equal(1);
  });

  it('do not cancel a run whose event has another number that is the same 64-bit float', async () => {
    const [order, other] = ['1234567890123456789', '1234567890123456788'];
    await start('long', [{ order: rawJson(order) }, { order: rawJson(other) }]);
    const { body } = await create({
      ...{ app_id: 'bulk', function_id: 'long', started_before: later(5_000) },
      if: `event.data.order == ${order}`,
    });
    await done(body.data.id, 1);
    expect([await runsOf('long', 'Cancelled'), await runsOf('long', 'Running')]).to.deep.equal([1, 1]);
  });

  it('also cancel runs that are queued before the end of the range', async () => {
    const { body } = await create({ app_id: 'bulk', function_id: 'bulk-two', started_before: later(60_000) });
    await done(body.data.id, 1);
    expect(await runsOf('two', 'Cancelled')).to.equal(1);
    await start('two', [{}]);
    const repeated = await create({ app_id: 'bulk', function_id: 'two', started_before: body.data.started_before });
    expect(repeated.body.data.id).to.equal(body.data.id);
    const removed = await service.request('DELETE', `/v1/cancellations/${body.data.id}`);
    expect(removed.status).to.equal(200);
    expect((await service.get('/v1/cancellations')).body.data.map(({ id }: { id: string }) => id)).to.not.include(
      body.data.id,
    );
    expect((await service.request('DELETE', `/v1/cancellations/${body.data.id}`)).status).to.equal(404);
  });

  it('cancel more runs than one round looks at, and leave runs that were queued later', async () => {
    const events = Array.from({ length: 250 }, (_, n) => ({ n }));
    await start('many', events);
    await service.waitFor('/v1/overview', () => true);
    const started_before = later(0);
    await start('many', [{ late: true }]);
    const { body } = await create({
      app_id: 'bulk',
      function_id: 'many',
      started_before,
      started_after: later(-3_600_000),
    });
    const { body: list } = await done(body.data.id, 250);
    expect(list.data.find(({ id }: { id: string }) => id === body.data.id).started_before).to.equal(started_before);
    expect(await runsOf('many', 'Running')).to.equal(1);
  });

  it('are done once they have looked at every run of the range', async () => {
    await start(
      'one',
      Array.from({ length: 150 }, () => ({ tenant: 'c' })),
    );
    const times = { started_after: later(-3_600_000), started_before: later(-9_000) };
    const { body } = await create({ app_id: 'bulk', function_id: 'one', ...times, if: 'event.data.tenant == "x"' });
    const isDone = ({ id, done_at }: { id: string; done_at: string | null }) => id === body.data.id && done_at !== null;
    await service.waitFor('/v1/cancellations', ({ body: list }) => list.data.some(isDone));
    const all = { started_before: later(30_000), if: 'event.data.tenant == "x"' };
    const { body: open } = await create({ app_id: 'bulk', function_id: 'one', ...all });
    expect(open.data.done_at).to.equal(null);
  });

  it('have errors that name the problem', async () => {
    const valid = { app_id: 'bulk', function_id: 'one', started_before: later(0) };
    expect((await create({ ...valid, function_id: 'none' })).status).to.equal(404);
    expect((await create({ ...valid, app_id: 'none' })).status).to.equal(404);
    for (const wrong of [
      { started_before: undefined },
      { started_before: later(400 * 86_400_000) },
      { started_after: later(60_000) },
      { if: 'event.data.tenant ==' },
    ]) {
      const { status, body } = await create({ ...valid, ...wrong });
      expect([status, body.code], JSON.stringify(wrong)).to.deep.equal([400, 'input_invalid']);
    }
  });
});
