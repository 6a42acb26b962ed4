import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('The reason why a run does not start', () => {
  let service: Service;
  let host: AppHost;
  let open: () => void;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    host.on('f', async () => {
      await opened;
      return {};
    });
  });
  afterEach(async () => {
    open();
    await host.close();
  });

  async function runsOf(events: object[], inFlight: number): Promise<string[]> {
    const { body } = await service.post(service.eventPath, events);
    const ids: string[] = [];
    for (const id of body.ids) {
      const found = await service.waitFor(`/v1/events/${id}/runs`, (response) => response.body.data?.length === 1);
      ids.push(found.body.data[0].run_id);
    }
    await until(() => host.calls('f').length === inFlight, { describe: 'the first calls are in flight' });
    return ids;
  }

  const get = async (path: string) => (await service.get(path)).body.data;

  it('names the limit, its key, the runs that hold it, and the position of the run', async () => {
    const concurrency = [{ limit: 1, key: 'event.data.customer' }, { limit: 10 }];
    await host.register(service, [{ id: 'f', triggers: [{ event: 'why/x' }], concurrency }], { appName: 'why' });
    const events = ['a', 'a', 'b', 'a'].map((customer) => ({ name: 'why/x', data: { customer } }));
    const runs = await runsOf(events, 2);
    const [first, second, other, third] = await Promise.all(runs.map((id) => get(`/v1/runs/${id}`)));
    expect([first.waiting, other.waiting]).to.deep.equal([null, null]);
    expect([second.waiting.position, third.waiting.position]).to.deep.equal([1, 2]);
    expect(third.waiting.limits[0]).to.deep.equal({
      kind: 'concurrency',
      scope: 'fn',
      key: 'a',
      key_expression: 'event.data.customer',
      limit: 1,
      in_use: 1,
      held_by: [first.run_id],
      held_elsewhere: 0,
      holds_back: true,
    });
    expect(third.waiting.limits[1]).to.include({ key: null, limit: 10, in_use: 2, holds_back: false });
    expect(third.next_try_at).to.equal(null);

    const limits = await get('/v1/functions/why-f/limits');
    expect(limits.waiting).to.equal(2);
    expect(limits.limits.map(({ in_use, limit }: { in_use: number; limit: number }) => [limit, in_use])).to.deep.equal([
      [1, null],
      [10, 2],
    ]);
    expect(limits.longest_backlogs).to.have.length(1);
    expect(limits.longest_backlogs[0]).to.deep.include({ keys: { 'event.data.customer': 'a' }, waiting: 2 });
    expect(limits.longest_backlogs[0].limits[0].held_by).to.deep.equal([first.run_id]);
    open();
    await service.waitFor('/v1/functions/why-f/limits', ({ body }) => body.data.waiting === 0);
  });

  it('says when a throttled run may start at the earliest', async () => {
    const throttle = { limit: 1, period: '1h' };
    await host.register(service, [{ id: 'f', triggers: [{ event: 'soon/x' }], throttle }], { appName: 'soon' });
    const runs = await runsOf(
      [1, 2, 3].map((n) => ({ name: 'soon/x', data: { n } })),
      1,
    );
    const [first, second, third] = await Promise.all(runs.map((id) => get(`/v1/runs/${id}`)));
    const since = Date.parse(first.run_started_at);
    expect(Date.parse(second.waiting.earliest_start) - since).to.be.within(3_590_000, 3_610_000);
    expect(Date.parse(third.waiting.earliest_start) - Date.parse(second.waiting.earliest_start)).to.equal(3_600_000);
    expect(third.waiting.limits[0]).to.include({ kind: 'throttle', limit: 1, holds_back: true });
  });

  it('counts runs of other environments that hold a limit of the account, without naming them; branches hold nothing back', async () => {
    await service.post('/v1/environments', { name: 'staging' });
    const concurrency = [{ limit: 1, key: '"crm"', scope: 'account' }];
    const functions = [{ id: 'f', triggers: [{ event: 'shared/x' }], concurrency }];
    const registration = host.registration(functions, { appName: 'shared' });
    for (const [inFlight, env] of [
      [1, 'feature/1'],
      [2, 'production'],
      [2, 'staging'],
    ] as const) {
      const headers = { 'x-service-env': env, 'x-service-sdk': 'test:v1.0.0' };
      expect((await service.post('/fn/register', registration, headers)).status).to.equal(200);
      expect((await service.post(service.eventPath, { name: 'shared/x', data: {} }, headers)).status).to.equal(200);
      await until(() => host.calls('f').length === inFlight, { describe: `the run of ${env} is called, or waits` });
    }
    const inStaging = async (path: string) => (await service.get(path, { 'x-service-env': 'staging' })).body.data;
    const run = await until(async () => (await inStaging('/v1/runs'))[0], { describe: 'the run is there' });
    const waiting = await until(async () => (await inStaging(`/v1/runs/${run.run_id}`)).waiting, {
      describe: 'the run waits',
    });
    const { longest_backlogs: backlogs } = await inStaging('/v1/functions/shared-f/limits');
    for (const limit of [waiting.limits[0], backlogs[0].limits[0]]) {
      expect(limit).to.include({ in_use: 1, held_elsewhere: 1, holds_back: true });
      expect(limit.held_by).to.deep.equal([]);
    }
    expect(host.calls('f')).to.have.length(2);
  });

  it('is absent for a function without limits', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'none/x' }] }], { appName: 'none' });
    expect(await get('/v1/functions/none-f/limits')).to.deep.equal({ waiting: 0, limits: [], longest_backlogs: [] });
    expect((await service.get('/v1/functions/unknown/limits')).status).to.equal(404);
  });
});
