import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const HOOK = `function transform(evt) {
  if (evt.throws) throw new Error('no such order');
  try { return { name: evt.user.login, data: {} } } catch (e) { return { name: evt.name ?? 'hook/failed', id: evt.id, data: { evt } } }
}`;

describe('environments', () => {
  let service: Service;
  let host: AppHost;
  const keys: Record<string, string> = {};
  const hooks: Record<string, string> = {};

  before(async () => {
    [service, host] = await Promise.all([startService({ dev: false }), startAppHost()]);
    for (const [name, kind] of [
      ['staging', 'named'],
      ['feature/x', 'branch'],
      ['old', 'branch'],
    ]) {
      expect((await call('POST', '/v1/environments', { name, kind })).status).to.equal(201);
    }
    for (const environment of ['production', 'staging', 'branches']) {
      keys[environment] = (await call('POST', '/v1/event-keys', { name: environment, environment })).body.data.secret;
      const made = await call('POST', '/v1/webhooks', { name: environment, environment, transform: HOOK });
      hooks[environment] = new URL(made.body.data.url).pathname;
    }
    await call('POST', '/v1/environments/old/archive');
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);
  const inEnv = (env: string) => ({ ...service.apiHeaders, 'x-service-env': env });
  const selecting = (selection: string | undefined) => (selection ? { 'x-service-env': selection } : {});
  const event = (name: string, more = {}) => ({ name, data: {}, ...more });

  async function appHeaders(env: string) {
    const { body } = await service.get(`/v1/environments/${encodeURIComponent(env)}/signing-key`);
    return { 'x-service-env': env, authorization: `Bearer ${hashedKey(body.data.current)}` };
  }

  async function stored(env: string, id: string) {
    return until(async () => (await service.get(`/v1/events/${id}`, inEnv(env))).body.data, {
      describe: `event ${id} is stored in ${env}`,
    });
  }

  describe('environment routes', () => {
    it('/v1/environments creates, lists, reads, archives and unarchives environments', async () => {
      expect((await call('POST', '/v1/environments', { name: 'qa' })).body.data).to.include({
        name: 'qa',
        kind: 'named',
      });
      const names = (await service.get('/v1/environments')).body.data.map(({ name }: { name: string }) => name);
      expect(names).to.deep.equal(['production', 'feature/x', 'old', 'qa', 'staging']);
      const archived = await call('POST', '/v1/environments/qa/archive');
      expect(archived.body.data.archived_at).to.be.a('string');
      expect((await call('POST', '/v1/environments/qa/unarchive')).body.data.archived_at).to.equal(null);
      expect((await service.get('/v1/environments/feature%2Fx')).body.data.kind).to.equal('branch');
      expect((await service.get('/v1/environments/none')).status).to.equal(404);
    });

    it('POST /v1/environments rejects invalid and taken names', async () => {
      for (const name of ['staging', 'production']) {
        expect((await call('POST', '/v1/environments', { name })).body.code).to.equal('environment_exists');
      }
      for (const name of ['branches', '@branches', 'a:b', '', 'x'.repeat(65)]) {
        expect((await call('POST', '/v1/environments', { name })).body.code, name).to.equal('input_invalid');
      }
    });

    it('POST /v1/environments/production/archive is rejected', async () => {
      expect((await call('POST', '/v1/environments/production/archive')).status).to.equal(400);
      expect((await service.post(`/e/${keys.production}`, event('x'))).status).to.equal(200);
    });

    it('event keys and webhooks can only belong to an existing environment', async () => {
      for (const path of ['/v1/event-keys', '/v1/webhooks']) {
        for (const [environment, code] of [
          ['none', 'environment_unknown'],
          ['feature/x', 'input_invalid'],
        ]) {
          expect((await call('POST', path, { name: 'x', environment })).body.code).to.equal(code);
        }
      }
    });
  });

  describe('environment of events sent with an event key', () => {
    for (const [owner, selection, status, code] of [
      ['production', undefined, 200],
      ['production', 'production', 200],
      ['production', 'staging', 403, 'environment_mismatch'],
      ['production', 'feature/x', 403, 'environment_mismatch'],
      ['production', 'none', 403, 'environment_mismatch'],
      ['staging', undefined, 200],
      ['staging', 'staging', 200],
      ['staging', 'production', 403, 'environment_mismatch'],
      ['branches', 'feature/x', 200],
      ['branches', undefined, 400, 'environment_missing'],
      ['branches', 'none', 404, 'environment_unknown'],
      ['branches', 'production', 403, 'environment_mismatch'],
      ['branches', 'staging', 403, 'environment_mismatch'],
      ['branches', 'old', 403, 'environment_archived'],
      ['branches', '@branches', 404, 'environment_unknown'],
    ] as const) {
      it(`POST /e/:key with a key of ${owner} and ${selection ?? 'nothing'} selected: ${code ?? 'accepted'}`, async () => {
        for (const [query, headers] of [
          ['', selecting(selection)],
          [selection ? `?x-service-env=${encodeURIComponent(selection)}` : '', {}],
        ] as const) {
          const response = await service.post(`/e/${keys[owner]}${query}`, event('matrix/key'), headers);
          expect([response.status, response.body.code]).to.deep.equal([status, code]);
          if (status === 200) await stored(selection ?? owner, response.body.ids[0]);
          else expect(response.body.ids).to.equal(undefined);
        }
      });
    }
  });

  describe('environment of webhook events', () => {
    for (const [owner, selection, held] of [
      ['production', undefined],
      ['production', 'production'],
      ['production', 'staging', 'environment_mismatch'],
      ['production', 'none', 'environment_unknown'],
      ['staging', undefined],
      ['staging', 'feature/x', 'environment_mismatch'],
      ['branches', 'feature/x'],
      ['branches', undefined, 'selection_missing'],
      ['branches', 'none', 'environment_unknown'],
      ['branches', 'production', 'environment_mismatch'],
    ] as const) {
      it(`POST /e/:key of a webhook of ${owner} with ${selection ?? 'nothing'} selected: ${held ?? 'accepted'}`, async () => {
        const response = await service.post(hooks[owner] as string, { name: 'matrix/hook' }, selecting(selection));
        expect(response.status).to.equal(200);
        const [id] = response.body.ids;
        if (!held) return void (await stored(selection ?? owner, id));
        const { body } = await service.get(`/v1/holding/${id}`);
        expect(body.data).to.include({ internal_id: id, reason: held, selection: selection ?? null });
        for (const env of ['production', 'staging', 'feature/x']) {
          expect((await service.get(`/v1/events/${id}`, inEnv(env))).status).to.equal(404);
        }
      });
    }

    it('POST /e/:key of a webhook of all branches rejects events of an archived branch', async () => {
      const response = await service.post(hooks.branches as string, {}, selecting('old'));
      expect([response.status, response.body.code]).to.deep.equal([403, 'environment_archived']);
      expect((await call('POST', '/v1/environments/old/unarchive')).status).to.equal(200);
      await until(async () => (await service.post(hooks.branches as string, {}, selecting('old'))).status === 200, {
        describe: 'it takes events again',
      });
    });
  });

  describe('error table of docs/events.md', () => {
    it('POST /e/:key responds with 400 to an uncaught error of a transform and accepts nothing', async () => {
      const { status, body } = await service.post(hooks.production as string, { throws: true });
      expect([status, body.code]).to.deep.equal([400, 'transform_failed']);
      expect(body.error).to.include('no such order');
    });

    it('POST /e/:key ingests the event of a transform that caught its own error', async () => {
      const { status, body } = await service.post(hooks.production as string, {});
      expect(status).to.equal(200);
      expect((await stored('production', body.ids[0])).name).to.equal('hook/failed');
    });

    it('POST /e/:key ignores a known deduplication ID with any payload, and starts no run', async () => {
      await host.register(service, [{ id: 'row', triggers: [{ event: 'row/x' }] }], { appName: 'row' });
      const send = (data: object) => service.post(`/e/${keys.production}`, { name: 'row/x', id: 'row-1', data });
      const [first, again] = [await send({ n: 1 }), await send({ n: 2 })];
      expect(again.body).to.deep.equal(first.body);
      const path = `/v1/events/${first.body.ids[0]}`;
      await service.waitFor(path, ({ body }) => body.data?.duplicates === 1);
      expect((await service.get(`${path}/runs`)).body.data.length).to.equal(1);
      expect(host.calls('row').length).to.be.at.most(1);
    });

    it('POST /e/:key holds a webhook event whose environment is missing or unknown, and triggers nothing', async () => {
      await host.register(service, [{ id: 'held', triggers: [{ event: 'held/x' }] }], {
        appName: 'held',
        headers: await appHeaders('feature/x'),
      });
      for (const selection of [undefined, 'nowhere']) {
        const { status, body } = await service.post(hooks.branches as string, { name: 'held/x' }, selecting(selection));
        expect(status).to.equal(200);
        expect((await service.get(`/v1/holding/${body.ids[0]}`)).status).to.equal(200);
      }
      const shown = await service.post(hooks.branches as string, { name: 'held/x' }, selecting('feature/x'));
      const { body } = await host.nextCall('held');
      expect(body.events[0].id).to.equal(shown.body.ids[0]);
      expect(host.calls('held').length).to.equal(1);
    });
  });

  describe('isolation of environments', () => {
    it('environments have separate events, runs and deduplication', async () => {
      for (const [appName, env] of [
        ['apart', 'staging'],
        ['apart', 'feature/x'],
      ] as const) {
        const response = await host.register(service, [{ id: `in-${env}`, triggers: [{ event: 'apart/x' }] }], {
          appName,
          headers: await appHeaders(env),
        });
        expect(response.status, JSON.stringify(response.body)).to.equal(200);
      }
      const sent = { name: 'apart/x', id: 'apart-1', data: {} };
      const staging = (await service.post(`/e/${keys.staging}`, sent)).body.ids[0];
      const branch = (await service.post(`/e/${keys.branches}`, sent, selecting('feature/x'))).body.ids[0];
      expect(branch).not.to.equal(staging);
      await Promise.all([host.nextCall('in-staging'), host.nextCall('in-feature/x')]);
      for (const [env, own, other] of [
        ['staging', staging, branch],
        ['feature/x', branch, staging],
      ] as const) {
        expect((await stored(env, own)).duplicates).to.equal(0);
        const runs = (await service.get(`/v1/events/${own}/runs`, inEnv(env))).body.data;
        expect(runs.map((run: { function_id: string }) => run.function_id)).to.deep.equal([`apart-in-${env}`]);
        for (const elsewhere of ['production', env === 'staging' ? 'feature/x' : 'staging']) {
          expect((await service.get(`/v1/runs/${runs[0].run_id}`, inEnv(elsewhere))).status).to.equal(404);
          expect((await service.get(`/v1/events/${own}`, inEnv(elsewhere))).status).to.equal(404);
        }
        const listed = (await service.get('/v1/events?name=apart/x', inEnv(env))).body.data;
        expect(listed.map(({ internal_id }: { internal_id: string }) => internal_id))
          .to.deep.equal([own])
          .and.not.include(other);
      }
      expect((await service.get('/v1/events?name=apart/x')).body.data).to.deep.equal([]);
    });
  });
});
