import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const BY = { key: 'event.data.key', by: 'event.data.at' };

describe('order', () => {
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

  /** As an app of its own for each test. */
  const register = (appName: string, order: object | undefined, more: object = {}) =>
    host.register(
      service,
      [{ id: 'f', retries: 0, triggers: [{ event: `${appName}/x` }], ...(order && { order }), ...more }],
      {
        appName,
      },
    );
  const send = async (name: string, ...events: object[]): Promise<string[]> => {
    const { body } = await service.post(
      '/e/key',
      events.map((data) => ({ name: `${name}/x`, data })),
    );
    for (const id of body.ids) await service.stored(id);
    return body.ids;
  };
  const decisionOn = async (id: string) => (await service.get(`/v1/events/${id}/decisions`)).body.data[0];
  const valuesOf = (calls: readonly Call[]) => calls.map(({ body }) => body.event.data.at);
  /** Holds calls until they get responses, one by one. */
  const heldCalls = (id = 'f') => {
    const waiting: ((status: number) => void)[] = [];
    host.on(
      id,
      () =>
        new Promise((resolve) =>
          waiting.push((status) => resolve({ status, body: status === 200 ? null : { name: 'Error', message: 'no' } })),
        ),
    );
    return {
      respond: async (status = 200) => {
        await until(() => waiting.length > 0, { describe: 'a call waits for its response' });
        waiting.shift()?.(status);
      },
    };
  };

  it('runs the events of a key one after another, in the order of a value, and other keys meanwhile', async () => {
    const { respond } = heldCalls();
    await register('keyed', BY);
    const [first] = await send('keyed', { key: 'a', at: 1 });
    await host.nextCall('f');
    const ids = await send(
      'keyed',
      { key: 'a', at: 10 },
      { key: 'a', at: 9 },
      { key: 'a', at: 11 },
      { key: 'b', at: 0 },
    );
    expect(valuesOf([await host.nextCall('f')])).to.deep.equal([0]);
    expect(await decisionOn(first as string)).to.include({ outcome: 'ran' });
    expect(await decisionOn(ids[0] as string)).to.include({ outcome: 'pending', reason: 'in_lane' });
    expect((await service.get(`/v1/events/${ids[0]}/runs`)).body.data).to.deep.equal([]);
    await respond();
    await respond();
    const rest: Call[] = [];
    for (let n = 0; n < 3; n++) {
      rest.push(await host.nextCall('f'));
      await respond();
    }
    expect(valuesOf(rest)).to.deep.equal([9, 10, 11]);
  });

  it('skips an event that is older than the last one that began, if the function says so', async () => {
    await register('stale', { ...BY, onStale: 'skip' });
    const [newer] = await send('stale', { key: 'a', at: '1.10' });
    const { body } = await host.nextCall('f');
    const [older] = await send('stale', { key: 'a', at: '1.9' });
    expect(await decisionOn(older as string)).to.include({ outcome: 'skipped', reason: 'superseded' });
    expect((await decisionOn(older as string)).run_ids).to.deep.equal([body.ctx.run_id]);
    await send('stale', { key: 'a', at: 'none' }, { key: 'b', at: '1.9' });
    const others = [await host.nextCall('f'), await host.nextCall('f')];
    expect(valuesOf(others).sort()).to.deep.equal(['1.9', 'none']);
    expect(newer).not.to.equal(older);
  });

  it('lets the first event of a key wait for those before it', async () => {
    await register('window', { ...BY, window: '1s', onStale: 'skip' });
    for (const at of [3, 1, 2]) await send('window', { key: 'a', at });
    const calls = [await host.nextCall('f'), await host.nextCall('f'), await host.nextCall('f')];
    expect(valuesOf(calls)).to.deep.equal([1, 2, 3]);
  });

  for (const appName of ['shared', '@acme/shared']) {
    it(`is shared by the functions of an app that name it: ${appName}`, async () => {
      const { respond } = heldCalls();
      const other = heldCalls('g');
      const order = { ...BY, name: 'both' };
      const of = (id: string) => ({ id, retries: 0, triggers: [{ event: `${appName}/${id}` }], order });
      await host.register(service, [of('f'), of('g')], { appName });
      await service.post('/e/key', { name: `${appName}/f`, data: { key: 'a', at: 1 } });
      await host.nextCall('f');
      const { body } = await service.post('/e/key', { name: `${appName}/g`, data: { key: 'a', at: 2 } });
      await service.stored(body.ids[0]);
      expect(await decisionOn(body.ids[0])).to.include({ reason: 'in_lane' });
      await respond();
      await host.nextCall('g');
      await other.respond();
    });
  }

  it('goes on after a run that fails for good, is cancelled, or has failed and completes when it is run again', async () => {
    const { respond } = heldCalls();
    await register('failed', BY);
    await send('failed', { key: 'a', at: 1 }, { key: 'a', at: 2 }, { key: 'a', at: 3 });
    await host.nextCall('f');
    await respond(500);
    const { body } = await host.nextCall('f');
    await service.post(`/v1/runs/${body.ctx.run_id}/cancel`);
    await respond();
    await host.nextCall('f');
    await respond();

    await register('failed', { ...BY, onFailure: 'park' });
    const [failed] = await send('failed', { key: 'b', at: 1 });
    const run = (await host.nextCall('f')).body.ctx.run_id as string;
    await respond(500);
    await service.waitFor(`/v1/runs/${run}`, (reply) => reply.body.data.status === 'Failed');
    const [next] = await send('failed', { key: 'b', at: 2 });
    expect(await decisionOn(next as string)).to.deep.include({ outcome: 'pending', reason: 'parked', run_ids: [run] });
    await service.post(`/v1/runs/${run}/retry`);
    expect((await host.nextCall('f')).body.event.id).to.equal(failed);
    await respond();
    expect((await host.nextCall('f')).body.event.id).to.equal(next);
    await respond();
  });

  it('shows stopped lanes, which a person lets run the failed event again, or go on', async () => {
    const { respond } = heldCalls();
    await register('stopped', { ...BY, onFailure: 'park' });
    const lanes = async (query = '') => (await service.get(`/v1/functions/stopped-f/lanes${query}`)).body.data;
    const [first] = await send('stopped', { key: 'a', at: 1 });
    await send('stopped', { key: 'b', at: 1 });
    const [run] = [await host.nextCall('f'), await host.nextCall('f')].map(({ body }) => body.ctx.run_id as string);
    const [second] = await send('stopped', { key: 'a', at: 2 });
    const states = (await lanes('?limit=1')).concat(await lanes()).map((lane: { state: string }) => lane.state);
    expect(states).to.deep.equal(['running', 'running', 'running']);
    await respond(500);
    await service.waitFor('/v1/functions/stopped-f/lanes?stopped=true', ({ body }) => body.data.length === 1);
    await until(async () => (await decisionOn(second as string)).reason === 'parked', { describe: 'it is told' });
    const [lane] = await lanes('?stopped=true');
    expect(lane).to.include({ key: 'a', state: 'parked', event_id: first, run_id: run, waiting: 1, next_at: null });
    const path = `/v1/functions/stopped-f/lanes/${lane.id}`;
    expect((await service.get(path)).body.data.events).to.deep.equal([{ event_id: second, function_id: 'stopped-f' }]);

    expect((await service.post(`${path}/retry`, {})).status).to.equal(200);
    const again = (await host.nextCall('f')).body;
    expect(again.event.id).to.equal(first);
    expect((await service.get(`/v1/runs/${again.ctx.run_id}`)).body.data.retry_of).to.equal(run);
    expect((await service.post(`${path}/skip`, {})).body.code).to.equal('lane_not_stopped');
    await respond();
    await respond(500);
    await service.waitFor('/v1/functions/stopped-f/lanes?stopped=true', ({ body }) => body.data.length === 1);
    expect((await service.post(`${path}/skip`, {})).status).to.equal(200);
    expect((await host.nextCall('f')).body.event.id).to.equal(second);
    await respond();
    await service.waitFor('/v1/functions/stopped-f/lanes', ({ body }) => body.data.length === 0);
  });

  it('of a webhook applies to the events that it makes, by values of the event and of the request', async () => {
    const { respond } = heldCalls();
    const own = heldCalls('own');
    const triggers = [{ event: 'hook/x' }];
    const order = { key: 'event.data.key' };
    await host.register(
      service,
      [
        { id: 'f', retries: 0, triggers },
        { id: 'own', triggers, order },
      ],
      { appName: 'hook' },
    );
    const hook = await service.post('/v1/webhooks', {
      name: 'ordered',
      transform: 'function transform(evt) { return { name: "hook/x", data: evt }; }',
      order: { key: 'event.data.key', by: 'request.headers["x-at"]', on_stale: 'skip', on_failure: 'park' },
    });
    expect(hook.body.data.order).to.deep.equal({
      ...{ key: 'event.data.key', by: 'request.headers["x-at"]', window: '0s' },
      ...{ on_stale: 'skip', on_failure: 'park' },
    });
    const path = new URL(hook.body.data.url).pathname;
    const receive = async (at: string, body: object = { key: 'a', at }) => {
      const [id] = (await service.request('POST', path, body, { 'x-at': at })).body.ids;
      await service.stored(id);
      return id as string;
    };
    const decisionOf = async (id: string, fn: string) =>
      (await service.get(`/v1/events/${id}/decisions`)).body.data.find(
        (one: { function_id: string }) => one.function_id === fn,
      );
    const first = await receive('2026-11-29T06:00:02Z');
    expect((await host.nextCall('f')).body.event.id).to.equal(first);
    const second = await receive('2026-11-29T06:00:03.5Z');
    const stale = await receive('2026-11-29T06:00:01Z');
    expect(await decisionOf(second, 'hook-f')).to.include({ reason: 'in_lane' });
    expect(await decisionOf(stale, 'hook-f')).to.include({ reason: 'superseded' });
    // Its own order has no `by`.
    expect(await decisionOf(stale, 'hook-own')).to.include({ reason: 'in_lane' });
    // Without a key an event waits for no other.
    const free = await receive('2026-11-29T06:00:04Z', { at: 'free' });
    expect((await host.nextCall('f')).body.event.id).to.equal(free);
    await respond(500);
    const lanes = '/v1/functions/hook-f/lanes?stopped=true';
    const { body } = await service.waitFor(lanes, (reply) => reply.body.data.length === 1);
    expect(body.data[0]).to.include({ key: 'a', state: 'parked', event_id: first, waiting: 1 });
    await respond();
    await service.request('PATCH', `/v1/webhooks/${hook.body.data.id}`, { order: null });
    expect((await host.nextCall('f')).body.event.id).to.equal(second);
    await respond();
    for (let n = 0; n < 4; n++) await own.respond();
  });

  it('runs what waits at once when a deploy removes the option', async () => {
    const { respond } = heldCalls();
    await register('deploy', BY);
    await send('deploy', { key: 'a', at: 1 }, { key: 'a', at: 2 }, { key: 'a', at: 3 });
    expect(valuesOf([await host.nextCall('f')])).to.deep.equal([1]);
    await register('deploy', undefined);
    const rest = [await host.nextCall('f'), await host.nextCall('f')];
    expect(valuesOf(rest).sort()).to.deep.equal([2, 3]);
    for (let n = 0; n < 3; n++) await respond();
  });
});
