import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const on = (event: string) => ({ triggers: [{ event }] });

describe('apps and functions', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 2 });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  const data = async (path: string) => (await service.get(path)).body.data;
  const send = async (name: string) => (await service.post('/e/key', { name, data: {} })).body.ids[0] as string;

  async function functionsRunBy(eventId: string): Promise<string[]> {
    // An event is listed once its runs are created.
    await service.waitFor('/v1/events', ({ body }) => body.data[0]?.internal_id === eventId);
    return (await data(`/v1/events/${eventId}/runs`))
      .map(({ function_id }: { function_id: string }) => function_id)
      .sort();
  }

  describe('apps', () => {
    it('GET /v1/apps lists apps with their SDK and framework, and GET /v1/apps/:name adds the functions', async () => {
      const before = Date.now();
      await host.register(
        service,
        [
          { id: 'b', ...on('shop/x') },
          { id: 'a', ...on('shop/y') },
        ],
        { appName: 'shop' },
      );
      const [app] = (await data('/v1/apps')).filter(({ name }: { name: string }) => name === 'shop');
      expect(app).to.deep.include({
        url: host.url,
        sdk: 'test:v1.0.0',
        framework: 'test',
        dialect: 'service',
        function_count: 2,
      });
      expect(Date.parse(app.registered_at)).to.be.within(before, Date.now());
      const by = { kind: 'app', name: null };
      expect(app.last_sync).to.deep.equal({ at: app.registered_at, succeeded: true, error: null, by });
      const { functions, refused_functions, unsupported, ...same } = await data('/v1/apps/shop');
      expect([same, refused_functions, unsupported]).to.deep.equal([app, [], []]);
      expect(functions.map(({ id }: { id: string }) => id)).to.have.members(['shop-a', 'shop-b']);
      expect((await service.get('/v1/apps/nobody')).status).to.equal(404);
    });

    it('GET /v1/apps shows why the last registration failed, until one succeeds', async () => {
      await host.register(service, [{ id: 'f', ...on('sick/x') }], { appName: 'sick' });
      const { registered_at } = await data('/v1/apps/sick');
      const bad = [{ id: 'f', triggers: [{ cron: 'every day' }] }];
      const refused = await host.register(service, bad, { appName: 'sick' });
      expect(refused.status).to.equal(400);
      const app = await data('/v1/apps/sick');
      expect(app).to.include({ function_count: 1 });
      expect(Date.parse(app.registered_at)).to.be.at.least(Date.parse(registered_at));
      expect(app.functions[0].triggers).to.deep.equal([{ event: 'sick/x' }]);
      expect(app.last_sync).to.include({ succeeded: false, error: refused.body.error });
      await host.register(service, [{ id: 'f', ...on('sick/x') }], { appName: 'sick' });
      const healthy = await data('/v1/apps/sick');
      expect([healthy.last_sync.succeeded, healthy.refused_functions]).to.deep.equal([true, []]);
    });

    it('POST /fn/register registers the valid functions, and lists the refused ones, which keep their earlier registration', async () => {
      const app = { appName: 'partly' };
      await host.register(
        service,
        [
          { id: 'old', ...on('partly/x') },
          { id: 'gone', ...on('partly/x') },
        ],
        app,
      );
      const functions = [
        { id: 'old', triggers: [{ cron: '61 * * * *' }] },
        { id: 'new', ...on('partly/y') },
        { id: 'never', triggers: [{}] },
      ];
      const { status, body } = await host.register(service, functions as never, app);
      expect([status, body.code, body.registered]).to.deep.equal([400, 'registration_invalid', 1]);
      expect(body.functions.map(({ id }: { id: string }) => id)).to.deep.equal(['partly-old', 'partly-never']);
      expect(body.error).to.include('"partly-old"').and.include('"61" is not a minute').and.include('"partly-never"');
      const stored = await data('/v1/apps/partly');
      expect(stored.last_sync).to.include({ succeeded: false, error: body.error });
      expect(stored.refused_functions).to.deep.equal(body.functions);
      expect(stored.functions.map(({ id }: { id: string }) => id).sort()).to.deep.equal(['partly-new', 'partly-old']);
      expect(await functionsRunBy(await send('partly/x'))).to.deep.equal(['partly-old']);
      expect(await functionsRunBy(await send('partly/y'))).to.deep.equal(['partly-new']);
    });

    it('POST /fn/register archives nothing when a refused function has no ID', async () => {
      const app = { appName: 'nameless' };
      await host.register(service, [{ id: 'f', ...on('nameless/x') }], app);
      const registration = host.registration([{ id: 'g', ...on('nameless/y') }], app);
      const given = { ...registration, functions: [{ triggers: [] }, ...registration.functions] };
      const response = await service.post('/fn/register', given, { 'x-service-sdk': 'test:v1.0.0' });
      expect([response.status, response.body.functions[0].id]).to.deep.equal([400, null]);
      const { functions } = await data('/v1/apps/nameless');
      expect(functions.map(({ id }: { id: string }) => id).sort()).to.deep.equal(['nameless-f', 'nameless-g']);
    });

    it('POST /fn/register accepts functions without triggers, which only invocations run, and at most 20 retries', async () => {
      const functions = [
        { id: 'invoked', triggers: [] },
        { id: 'eager', ...on('eager/x'), retries: 99 },
      ];
      const { status, body } = await host.register(service, functions as never, { appName: 'only' });
      expect([status, body.functions]).to.deep.equal([
        200,
        [{ id: 'only-eager', problems: ['it asks for 99 retries and gets 20, which is the maximum'] }],
      ]);
      expect((await data('/v1/functions/only-eager')).retries).to.equal(20);
      expect((await data('/v1/functions/only-invoked')).triggers).to.deep.equal([]);
      const invoked = await service.post('/v1/functions/only-invoked/invoke', { data: { n: 1 } });
      expect(invoked.status).to.equal(201);
      expect((await host.nextCall('invoked')).body.event.data).to.deep.equal({ n: 1 });
    });

    it('POST /fn/register derives an empty function ID from the name, and accepts a single step under any key', async () => {
      const runtime = { url: `${host.url}?fnId=other` };
      const registration = {
        url: host.url,
        appName: 'inferred',
        functions: [
          {
            id: '',
            name: 'Send My Receipt!',
            triggers: [{ event: 'inferred/x' }],
            steps: { 'step-1': { id: '', runtime } },
          },
          { id: '', name: '?', triggers: [], steps: { a: { id: '', runtime } } },
          { id: 'inferred-two', triggers: [], steps: { a: { id: '', runtime }, b: { id: '', runtime } } },
        ],
      };
      const { status, body } = await service.post('/fn/register', registration);
      expect([status, body.registered]).to.deep.equal([400, 1]);
      expect(body.functions.map(({ id }: { id: string | null }) => id)).to.deep.equal([null, 'inferred-two']);
      const { id, url } = await data('/v1/functions/inferred-send-my-receipt');
      expect([id, url]).to.deep.equal(['inferred-send-my-receipt', runtime.url]);
    });

    it('POST /v1/apps records a failed sync when the app is unreachable', async () => {
      const gone = await startAppHost();
      await gone.register(service, [{ id: 'f', ...on('gone/x') }], { appName: 'gone' });
      await gone.close();
      const response = await service.post('/v1/apps', { url: gone.url });
      expect([response.status, response.body.code]).to.deep.equal([400, 'app_unreachable']);
      expect((await data('/v1/apps/gone')).last_sync).to.include({ succeeded: false, error: response.body.error });
    });

    it('POST /v1/apps rejects an app that responds with 200 but does not register', async () => {
      const boastful = createServer((_, response) => {
        response.writeHead(200, { 'x-service-sdk': 'test:v1.0.0' }).end('{"message":"refused elsewhere"}');
      }).listen(0, '127.0.0.1');
      await once(boastful, 'listening');
      try {
        const url = `http://127.0.0.1:${(boastful.address() as AddressInfo).port}/api`;
        const { status, body } = await service.post('/v1/apps', { url });
        expect([status, body.code]).to.deep.equal([400, 'app_unreachable']);
        expect(body.error).to.include('has not registered in the environment').and.include('refused elsewhere');
      } finally {
        boastful.closeAllConnections();
        boastful.close();
        await once(boastful, 'close');
      }
    });

    it('DELETE /v1/apps/:name archives the functions until the app registers again', async () => {
      const register = () => host.register(service, [{ id: 'f', ...on('deleted/x') }], { appName: 'deleted' });
      await register();
      expect((await service.request('DELETE', '/v1/apps/deleted')).status).to.equal(204);
      expect((await service.get('/v1/apps/deleted')).status).to.equal(404);
      expect((await service.request('DELETE', '/v1/apps/deleted')).status).to.equal(404);
      expect(await functionsRunBy(await send('deleted/x'))).to.deep.equal([]);
      expect(await data('/v1/functions/deleted-f')).to.include({ archived: true });
      await register();
      expect(await data('/v1/functions/deleted-f')).to.include({ archived: false });
      await send('deleted/x');
      await host.nextCall('f');
    });
  });

  describe('functions', () => {
    const ids = (list: { id: string }[]) => list.map(({ id }) => id);

    it('GET /v1/functions lists the functions of all apps or of one, by ID and in pages', async () => {
      const names = ['c', 'a', 'd', 'b'];
      await host.register(
        service,
        names.map((id) => ({ id, ...on('listed/x') })),
        { appName: 'listed' },
      );
      expect(ids(await data('/v1/functions?app=listed'))).to.deep.equal(names.sort().map((id) => `listed-${id}`));
      const first = await service.get('/v1/functions?app=listed&limit=3');
      expect(ids(first.body.data)).to.deep.equal(['listed-a', 'listed-b', 'listed-c']);
      await host.register(
        service,
        ['aa', 'b', 'd'].map((id) => ({ id, ...on('listed/x') })),
        { appName: 'listed' },
      );
      const second = await service.get(`/v1/functions?app=listed&limit=3&cursor=${first.body.metadata.cursor}`);
      expect(ids(second.body.data)).to.deep.equal(['listed-d']);
      expect(second.body.metadata).not.to.have.property('cursor');
      expect(ids(await data('/v1/functions?app=listed&archived=true'))).to.deep.equal(['listed-a', 'listed-c']);
      expect(ids(await data('/v1/functions?app=nobody'))).to.deep.equal([]);
    });

    it('GET /v1/functions/:id returns triggers and the configuration as registered', async () => {
      const trigger = { event: 'read/x', expression: 'event.data.n > 1' };
      const cancel = [{ event: 'read/stop', if: 'event.data.n == async.data.n', timeout: '1h' }];
      const fn = { id: 'f/with slash', triggers: [trigger], retries: 2, cancel, concurrency: [{ limit: 5 }] };
      await host.register(service, [fn], { appName: 'read' });
      const read = await data(`/v1/functions/${encodeURIComponent('read-f/with slash')}`);
      expect(read).to.deep.include({
        app: 'read',
        triggers: [trigger],
        retries: 2,
        paused_at: null,
        archived: false,
        cancel: [{ event: 'read/stop', expression: cancel[0]?.if, timeout: '1h' }],
      });
      expect(read.configuration).to.deep.include({ concurrency: [{ limit: 5 }], cancel });
      expect((await service.get('/v1/functions/nobody')).status).to.equal(404);
    });

    it('POST /v1/functions/:id/pause stops triggers until resume, even after the app registers again', async () => {
      const register = (name: string) =>
        host.register(
          service,
          ['f', 'g'].map((id) => ({ id, name, ...on('paused/x') })),
          { appName: 'paused' },
        );
      await register('before');
      expect(await functionsRunBy(await send('paused/x'))).to.deep.equal(['paused-f', 'paused-g']);
      const { status, body } = await service.post('/v1/functions/paused-f/pause');
      expect(status).to.equal(200);
      expect(body.data.paused_at).to.match(/^\d{4}-/);
      expect(await functionsRunBy(await send('paused/x'))).to.deep.equal(['paused-g']);
      await register('after');
      expect(await data('/v1/functions/paused-f')).to.include({ name: 'after', paused_at: body.data.paused_at });
      expect((await service.post('/v1/functions/paused-f/pause')).body.data.paused_at).to.equal(body.data.paused_at);
      expect(await functionsRunBy(await send('paused/x'))).to.deep.equal(['paused-g']);
      const resumed = await service.post('/v1/functions/paused-f/resume');
      expect(resumed.body.data.paused_at).to.equal(null);
      expect(await functionsRunBy(await send('paused/x'))).to.deep.equal(['paused-f', 'paused-g']);
      expect((await service.post('/v1/functions/nobody/pause')).status).to.equal(404);
    });

    it('POST /v1/functions/:id/pause lets active runs finish', async () => {
      const barrier = Promise.withResolvers<void>();
      host.on('f', async () => {
        await barrier.promise;
        return { body: 'finished' };
      });
      await host.register(service, [{ id: 'f', ...on('running/x') }], { appName: 'running' });
      await send('running/x');
      const { body } = await host.nextCall('f');
      await service.post('/v1/functions/running-f/pause');
      barrier.resolve();
      const path = `/v1/runs/${body.ctx.run_id}`;
      const run = await service.waitFor(path, ({ body }) => body.data.status === 'Completed');
      expect(run.body.data.output).to.equal('finished');
    });
  });
});
