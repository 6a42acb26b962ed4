import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ENV = {
  APPS_MAX: '3',
  FUNCTIONS_PER_APP_MAX: '4',
  FUNCTIONS_MAX: '6',
  FUNCTION_CONFIG_MAX_BYTES: '2000',
  BRANCH_ENVIRONMENTS_MAX: '5',
};

const on = (event: string, id = 'f'): FunctionSpec => ({ id, triggers: [{ event }] });
const several = (count: number) => Array.from({ length: count }, (_, n) => on('quota/x', `f${n}`));

describe('quotas', () => {
  let service: Service;
  let host: AppHost;
  let branchProof: string;
  beforeEach(async () => {
    [service, host] = await Promise.all([startService({ dev: false, env: ENV }), startAppHost()]);
    const { body } = await service.get('/v1/environments/branches/signing-key');
    branchProof = `Bearer ${hashedKey(body.data.current)}`;
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
  });

  const inBranch = (name: string) => ({ 'x-service-env': name, authorization: branchProof });
  const register = (appName: string, functions: FunctionSpec[], branch?: string) =>
    host.register(service, functions, { appName, ...(branch && { headers: inBranch(branch) }) });

  function expectRejected({ status, body }: { status: number; body: Record<string, unknown> }, limit: string): void {
    expect([status, body.code, body.limit], JSON.stringify(body)).to.deep.equal([403, 'quota_exceeded', limit]);
    expect(body.error)
      .to.include(limit)
      .and.include(ENV[limit as keyof typeof ENV].replace('2000', '2,000'));
    expect(body.error).to.match(/, or raise [A-Z_]+$/);
  }

  it('POST /fn/register limits functions and sizes, and the error names the limit, the count and the fix', async () => {
    expectRejected(await register('a', several(5)), 'FUNCTIONS_PER_APP_MAX');
    expectRejected(await register('a', [{ ...on('x'), note: 'x'.repeat(2_000) }]), 'FUNCTION_CONFIG_MAX_BYTES');
    const long = await register('a', [{ ...on('x'), name: 'x'.repeat(300) }]);
    expect([long.status, long.body.code]).to.deep.equal([400, 'registration_invalid']);
    expect((await service.get('/v1/apps')).body.data[0]).to.include({ name: 'a', function_count: 0 });
    await service.request('DELETE', '/v1/apps/a');
  });

  it('POST /fn/register limits the apps of an environment, also for concurrent registrations', async () => {
    const responses = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => register(name, [on('x')])));
    expect(responses.filter(({ status }) => status === 200).length).to.equal(3);
    const rejected = responses.find(({ status }) => status !== 200);
    expectRejected(rejected as NonNullable<typeof rejected>, 'APPS_MAX');
    const [{ name }] = (await service.get('/v1/apps')).body.data;
    expect((await register(name, [on('y')])).status, 'one that is there').to.equal(200);
  });

  it('POST /fn/register limits the functions of an environment, and an app may always shrink', async () => {
    expect((await register('a', several(4))).status).to.equal(200);
    expectRejected(await register('b', several(3)), 'FUNCTIONS_MAX');
    expect((await register('b', several(2))).status).to.equal(200);
    expect((await register('a', several(1))).status).to.equal(200);
    expect((await register('b', several(4))).status).to.equal(200);
  });

  it('POST /fn/register limits archived functions, so that changing IDs do not accumulate', async () => {
    for (let n = 0; n < 10; n++) await register('a', [on('x', `v${n}-a`), on('x', `v${n}-b`)]);
    expect(await service.redis.hlen(`${service.prefix}:functions:production`)).to.be.at.most(2 + 6 + 2);
    expect((await service.get('/v1/apps/a')).body.data.function_count).to.equal(2);
  });

  it('the number of branch environments is limited, however they are created', async () => {
    const made = await Promise.all(Array.from({ length: 9 }, (_, n) => register('a', [on('x')], `branch-${n}`)));
    expect(made.filter(({ status }) => status === 200).length).to.equal(5);
    for (const rejected of made.filter(({ status }) => status !== 200))
      expectRejected(rejected, 'BRANCH_ENVIRONMENTS_MAX');
    const byHand = { name: 'another', kind: 'branch' };
    expectRejected(await service.post('/v1/environments', byHand, service.apiHeaders), 'BRANCH_ENVIRONMENTS_MAX');
    const named = await service.post('/v1/environments', { name: 'qa' }, service.apiHeaders);
    expect(named.status).to.equal(201);
    expect((await service.get('/v1/environments')).body.data.length).to.equal(7);
  });
});

describe('deletion of a branch environment', () => {
  let service: Service;
  let host: AppHost;
  let sendTo: (branch: string, name: string, more?: object) => ReturnType<Service['post']>;
  let proof: string;
  before(async () => {
    [service, host] = await Promise.all([startService({ processes: 'worker', dev: false }), startAppHost()]);
    proof = `Bearer ${hashedKey((await service.get('/v1/environments/branches/signing-key')).body.data.current)}`;
    const key = await service.post('/v1/event-keys', { name: 'b', environment: 'branches' }, service.apiHeaders);
    sendTo = (branch, name, more = {}) =>
      service.post(`/e/${key.body.data.secret}`, { name, data: {}, ...more }, { 'x-service-env': branch });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const of = (branch: string) => ({ ...service.apiHeaders, 'x-service-env': branch });
  const environment = (name: string) => `/v1/environments/${encodeURIComponent(name)}`;
  const remove = (name: string) => service.request('DELETE', environment(name), undefined, service.apiHeaders);
  const gone = (name: string) =>
    until(async () => (await service.get(environment(name))).status === 404, {
      describe: `${name} is gone`,
      timeoutMs: 40_000,
    });

  /** Creates an event, a finished run, a sleeping one, a failed one, and a waiting one. */
  async function fill(branch: string): Promise<void> {
    const sleep = { id: 'a'.repeat(40), op: 'Sleep', name: '30d', displayName: 's', opts: { duration: '30d' } };
    const wait = {
      id: 'b'.repeat(40),
      op: 'WaitForEvent',
      name: 'never/x',
      displayName: 'w',
      opts: { event: 'never/x', timeout: '30d' },
    };
    host.on('sleeps', () => ({ status: 206, body: [sleep] }));
    host.on('waits', () => ({ status: 206, body: [wait] }));
    host.on('fails', () => ({
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'E', message: 'no' },
    }));
    const functions = ['ends', 'sleeps', 'waits', 'fails'].map((id) => on('fill/x', id));
    const headers = { 'x-service-env': branch, authorization: proof };
    const response = await host.register(service, functions, { appName: 'shop', headers });
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    await service.post('/v1/functions/shop-ends/pause', undefined, of(branch));
    await service.post('/v1/functions/shop-ends/resume', undefined, of(branch));
    const { body } = await sendTo(branch, 'fill/x', { id: `once-${branch}` });
    await until(
      async () => {
        const { data } = (await service.get(`/v1/events/${body.ids[0]}/runs`, of(branch))).body;
        const statuses = data.map((run: { status: string }) => run.status).sort();
        return statuses.join() === 'Completed,Failed,Running,Running';
      },
      { describe: `the runs of ${branch} are where they should be` },
    );
    await until(async () => (await keysOf(service.redis, `${service.prefix}:metrics:${branch}:`)).length > 0, {
      describe: 'its counts are written',
    });
  }

  const namedBy = (keys: string[], branch: string) => keys.filter((key) => key.split(':')[2] === branch);

  it('DELETE /v1/environments/:name deletes all data of the branch and nothing else', async () => {
    // One name is part of the other's keys, and of an event in production.
    await fill('feature/x');
    await fill('runs');
    const { body } = await service.post(service.eventPath, { name: 'a:feature/x:b', data: {} });
    await service.stored(body.ids[0]);
    const held = await service.post(
      '/v1/api-keys',
      { name: 'held', access: 'read', environment: 'feature/x' },
      service.apiHeaders,
    );
    const before = await keysOf(service.redis, service.prefix);
    expect(namedBy(before, 'feature/x').length).to.be.above(10);
    const delayedBefore = await service.redis.zcard(`${service.prefix}:queue:runs:delayed`);

    const response = await remove('feature/x');
    expect(response.status).to.equal(202);
    expect(response.body.data.deleting_at).to.be.a('string');
    const rejected = await sendTo('feature/x', 'fill/x');
    expect([rejected.status, rejected.body.code]).to.deep.equal([403, 'environment_archived']);
    const reopened = await service.post(`${environment('feature/x')}/unarchive`, undefined, service.apiHeaders);
    expect([reopened.status, reopened.body.code]).to.deep.equal([409, 'environment_deleting']);
    expect((await service.get('/v1/events', of('feature/x'))).body.code).to.equal('environment_deleting');
    await gone('feature/x');

    const after = await keysOf(service.redis, service.prefix);
    expect(namedBy(after, 'feature/x')).to.deep.equal([]);
    expect(namedBy(after, 'runs').length).to.be.above(10);
    const queueKeys = (keys: string[]) =>
      keys.filter((key) => /:queue:(runs|ingest):(wait|delayed|id|meta)$/.test(key));
    expect(queueKeys(after)).to.include.members(queueKeys(before).filter((key) => key.endsWith('meta')));
    expect((await service.get('/v1/events?name=fill/x', of('runs'))).body.data.length).to.equal(1);
    expect((await service.get(`/v1/events/${body.ids[0]}`)).status).to.equal(200);
    const { data: keys } = (await service.get('/v1/api-keys')).body;
    expect(keys.map(({ id }: { id: string }) => id)).not.to.include(held.body.data.id);
    expect(await service.redis.zcard(`${service.prefix}:queue:runs:delayed`)).to.equal(delayedBefore / 2);
    const active = await service.redis.zrange(`${service.prefix}:active-runs`, 0, '-1');
    expect(active.filter((member) => member.startsWith('feature/x/'))).to.deep.equal([]);
    expect(active.length).to.be.above(0);
    const [entry] = (await service.get('/v1/audit')).body.data;
    expect(entry).to.include({ action: 'DELETE /v1/environments/:name', target: 'feature/x' });
  });

  it('a deleted branch environment can be created again and is empty', async () => {
    await fill('again');
    await remove('again');
    await gone('again');
    // Web rejects registrations until it, too, knows that the deletion is complete.
    const registered = async () => {
      const headers = { 'x-service-env': 'again', authorization: proof };
      return (await host.register(service, [on('again/y', 'other')], { appName: 'shop', headers })).status === 200;
    };
    await until(registered, { describe: 'the environment is created again' });
    expect((await service.get('/v1/events?name=fill/x', of('again'))).body.data).to.deep.equal([]);
    const sent = await sendTo('again', 'fill/x', { id: 'once-again' });
    const stored = await until(
      async () => (await service.get(`/v1/events/${sent.body.ids[0]}`, of('again'))).body.data,
      {
        describe: 'the event is stored',
      },
    );
    expect(stored.duplicates).to.equal(0);
    expect(stored.source).not.to.equal('');
    expect((await service.get(`/v1/events/${sent.body.ids[0]}/runs`, of('again'))).body.data).to.deep.equal([]);
    await sendTo('again', 'again/y');
    await host.nextCall('other');
  });

  it('the deletion of a branch environment completes even if a worker dies during it', async () => {
    await fill('half');
    await remove('half');
    await service.killWorker(service.workers.length - 1);
    await service.startWorker();
    // The first attempt may have left this.
    await service.redis.unlink(`${service.prefix}:active-runs:half`);
    await gone('half');
    expect(namedBy(await keysOf(service.redis, service.prefix), 'half')).to.deep.equal([]);
  });

  it('DELETE /v1/environments/:name rejects production and named environments', async () => {
    await service.post('/v1/environments', { name: 'qa' }, service.apiHeaders);
    for (const name of ['production', 'qa']) {
      expect([(await remove(name)).status, (await remove(name)).body.code]).to.deep.equal([400, 'input_invalid']);
    }
    expect((await remove('nowhere')).status).to.equal(404);
  });
});

describe('inactive branch environments', () => {
  it('an inactive branch environment is archived, then deleted, with audit entries; production stays', async () => {
    const service = await startService({ dev: false, env: { BRANCH_EXPIRY_DAYS: '0.00002' } });
    try {
      await service.post('/v1/environments', { name: 'idle', kind: 'branch' }, service.apiHeaders);
      await service.post('/v1/environments', { name: 'qa' }, service.apiHeaders);
      await until(async () => (await service.get('/v1/environments/idle')).body.data?.archived_at, {
        describe: 'it is archived',
      });
      await until(async () => (await service.get('/v1/environments/idle')).status === 404, {
        describe: 'it is gone',
        timeoutMs: 40_000,
      });
      const { data } = (await service.get('/v1/environments')).body;
      expect(data.map(({ name }: { name: string }) => name)).to.deep.equal(['production', 'qa']);
      const actions = (await service.get('/v1/audit')).body.data.map(({ action }: { action: string }) => action);
      expect(actions.slice(0, 2)).to.deep.equal(['branch-deleted', 'branch-archived']);
    } finally {
      await service.stop();
    }
  });
});
