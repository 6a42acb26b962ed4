import { expect } from 'chai';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const on = (id: string, options: object = {}): FunctionSpec => ({
  id,
  triggers: [{ event: `shop/${id}` }],
  ...options,
});

describe('deploys', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 0, webs: 2 });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const register = (appName: string, functions: FunctionSpec[], more: object = {}, url = service.url, env?: string) =>
    request('POST', `${url}/fn/register`, {
      body: { ...host.registration(functions, { appName }), ...more },
      headers: { 'x-service-sdk': 'test:v1.0.0', ...(env && { 'x-service-env': env }) },
    });
  const deploysOf = async (query: string, env?: string) =>
    (await service.get(`/v1/deploys?${query}`, env ? { 'x-service-env': env } : {})).body.data;

  it('a registration that changes functions is a deploy that lists what was added, removed and changed', async () => {
    await register('first', [on('a'), on('b')]);
    await register('first', [on('b', { concurrency: 3 }), on('c')]);
    const [second, first, ...others] = await deploysOf('app=first');
    expect(others).to.deep.equal([]);
    expect(first).to.deep.include({ app: 'first', sdk: 'test:v1.0.0', framework: 'test', first: true, changes: [] });
    expect(first.by).to.deep.equal({ kind: 'app', name: null });
    expect(first.functions).to.deep.equal({ added: ['first-a', 'first-b'], removed: [], changed: [], omitted: 0 });
    expect(second.first).to.equal(false);
    expect(second.functions).to.deep.equal({
      added: ['first-c'],
      removed: ['first-a'],
      changed: [{ id: 'first-b', fields: ['concurrency'] }],
      omitted: 0,
    });
  });

  it('texts that are no well-formed Unicode are stored, and change like others', async () => {
    await register('texts', [on('a')], { framework: 'f\ud800' });
    expect((await register('texts', [on('a')], { framework: 'f\udfff\ud800' })).status).to.equal(200);
    const response = await register('texts', [on('a'), on('b')], { framework: '\ud800' });
    expect(response.status).to.equal(200);
    expect(await deploysOf('app=texts')).to.have.length(3);
  });

  it('a registration with the same functions in any order is not a deploy', async () => {
    await register('same', [on('a'), on('b')]);
    await register('same', [on('b'), on('a')]);
    await register('same', [on('a'), on('b')], {}, service.urls[1]);
    expect(await deploysOf('app=same')).to.have.length(1);
  });

  it('processes that register the same functions at once make one deploy', async () => {
    await register('at-once', [on('a')]);
    const urls = Array.from({ length: 10 }, (_, i) => service.urls[i % 2]);
    await Promise.all(urls.map((url) => register('at-once', [on('a'), on('b')], { sdk: 'test:v2.0.0' }, url)));
    expect(await deploysOf('app=at-once')).to.have.length(2);
  });

  it('a new SDK version, URL or build is a deploy that shows the former value; a new URL changes no function', async () => {
    await register('facts', [on('a')]);
    await register('facts', [on('a')], { sdk: 'test:v1.1.0' });
    await register('facts', [on('a')], { sdk: 'test:v1.1.0', deployId: 'dpl_1' });
    // Not every way to register tells the build.
    await register('facts', [on('a')], { sdk: 'test:v1.1.0' });
    await register('facts', [on('a')], { sdk: 'test:v1.1.0', deployId: 'dpl_1' });
    const url = `${host.url}/moved`;
    const [moved] = host.registration([on('a')], { appName: 'facts' }).functions;
    const step = { ...moved?.steps.step, runtime: { type: 'http', url: `${url}?fnId=facts-a&stepId=step` } };
    await register('facts', [], {
      sdk: 'test:v1.1.0',
      appVersion: 'v7',
      url,
      functions: [{ ...moved, steps: { step } }],
    });
    const [third, second, first, ...others] = await deploysOf('app=facts');
    expect(first.changes).to.deep.equal([{ field: 'sdk', from: 'test:v1.0.0' }]);
    expect(second).to.deep.include({ deploy_id: 'dpl_1', changes: [{ field: 'deploy_id', from: null }] });
    expect(third.changes).to.deep.equal([
      { field: 'url', from: host.url },
      { field: 'deploy_id', from: 'dpl_1' },
    ]);
    expect(third).to.deep.include({ url, deploy_id: 'v7' });
    expect(third.functions).to.deep.equal({ added: [], removed: [], changed: [], omitted: 0 });
    expect(others).to.have.length(1);
    const { body } = await service.get('/v1/apps/facts');
    expect(body.data.deploy_id).to.equal('v7');
  });

  it('GET /v1/deploys selects by app, function and time, in pages', async () => {
    for (const n of [1, 2, 3]) await register('pages', [on('a'), on(`n${n}`)]);
    const all = await deploysOf('app=pages');
    expect(all).to.have.length(3);
    expect(await deploysOf('function_id=pages-a')).to.deep.equal(all);
    expect(await deploysOf('function_id=pages-n1&app=pages'), 'archived').to.deep.equal(all);
    expect(await deploysOf('function_id=pages-a&app=first')).to.deep.equal([]);
    expect(await deploysOf('function_id=nothing')).to.deep.equal([]);
    expect(await deploysOf(`app=pages&from=${all[1].at}&to=${all[0].at}`)).to.deep.equal(
      all.slice(1).filter(({ at }: { at: string }) => at >= all[1].at),
    );
    expect((await deploysOf('limit=100')).map(({ id }: { id: string }) => id)).to.include.members([all[0].id]);
    const { body } = await service.get('/v1/deploys?app=pages&limit=2');
    expect(body.data).to.deep.equal(all.slice(0, 2));
    const rest = await service.get(`/v1/deploys?app=pages&limit=2&cursor=${body.metadata.cursor}`);
    expect(rest.body.data).to.deep.equal(all.slice(2));
    expect(rest.body.metadata).to.not.have.property('cursor');
  });

  it('each environment has its own deploys', async () => {
    await service.post('/v1/environments', { name: 'staging' });
    await register('own', [on('a')], {}, service.url, 'staging');
    expect(await deploysOf('app=own')).to.deep.equal([]);
    expect(await deploysOf('limit=100', 'staging')).to.have.length(1);
  });

  it('the last 100 deploys of an app are kept, each with at most 2,000 characters of names', async () => {
    const many = Array.from({ length: 60 }, (_, i) => on(`${'x'.repeat(50)}${i}`));
    await register('many', many);
    for (let i = 0; i < 101; i++) await register('many', many, { deployId: `d${i}` });
    const newest = await deploysOf('app=many&limit=100');
    expect(newest).to.have.length(100);
    expect(newest.at(-1).deploy_id).to.equal('d1');
    await register('many', []);
    const [removed] = await deploysOf('app=many&limit=1');
    expect(removed.functions.removed.join('').length).to.be.within(1_900, 2_000);
    expect(removed.functions.removed.length + removed.functions.omitted).to.equal(60);
    const ttl = await service.redis.pttl(service.keys.appDeploys('production', 'many'));
    expect(ttl).to.be.above(89 * 86_400_000);
  });

  it('an app shows who registered it last, and its last failure, even after later successes', async () => {
    host.offer(service, [on('a')], { appName: 'told' });
    await service.post('/v1/apps', { url: host.url });
    await register('told', [{ ...on('b'), triggers: [{ cron: 'never' }] }]);
    const failed = (await service.get('/v1/apps/told')).body.data;
    expect(failed.last_sync.succeeded).to.equal(false);
    await register('told', [on('a')]);
    const { last_sync, last_failed_sync } = (await service.get('/v1/apps/told')).body.data;
    expect(last_sync).to.deep.include({ succeeded: true, error: null, by: { kind: 'app', name: null } });
    expect(last_failed_sync).to.deep.equal({
      at: failed.last_sync.at,
      error: failed.last_sync.error,
      by: { kind: 'app', name: null },
    });
    expect(last_failed_sync.error).to.include('schedule');
  });
});
