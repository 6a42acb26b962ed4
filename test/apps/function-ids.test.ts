import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Names of what every object of JavaScript has. */
const IDS = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];

describe('A function or app whose ID is the name of a property of JavaScript objects', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    [service, host] = await Promise.all([startService(), startAppHost()]);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  for (const id of IDS) {
    it(`is registered, runs, is paused and resumed like any other: ${id}`, async () => {
      const runtime = { type: 'http', url: `${host.url}?fnId=${id}&stepId=step` };
      const triggers = [{ event: `ids/${id}`, expression: 'event.data.n > 0' }];
      const fn = { id, name: id, triggers, steps: { step: { id: 'step', name: 'step', runtime } } };
      const body = { url: host.url, deployType: 'ping', appName: id, sdk: 'js:v1.0.0', v: '0.1', functions: [fn] };
      const registered = await service.post('/fn/register', body, { 'x-service-sdk': 'js:v1.0.0' });
      expect(registered.status, JSON.stringify(registered.body)).to.equal(200);
      host.on(id, () => ({ status: 200, body: { ok: true } }));
      const { body: sent } = await service.post('/e/key', { name: `ids/${id}`, data: { n: 1 } });
      const runs = () => service.get(`/v1/events/${sent.ids[0]}/runs`);
      await until(async () => (await runs()).body.data?.[0]?.status === 'Completed', { describe: 'its run completes' });
      const read = async (path: string) => {
        const { status, body } = await service.get(path);
        expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200);
        return body.data;
      };
      expect((await read(`/v1/functions/${id}`)).paused_at).to.equal(null);
      for (const action of ['pause', 'resume']) {
        expect((await service.post(`/v1/functions/${id}/${action}`)).status, action).to.equal(200);
      }
      expect((await read('/v1/functions')).map((item: { id: string }) => item.id)).to.include(id);
      expect((await read(`/v1/apps/${id}`)).functions[0]).to.include({ id, paused_at: null });
      await read(`/v1/functions/${id}/limits`);
      await read(`/v1/functions/${id}/metrics`);
      expect((await service.request('DELETE', `/v1/apps/${id}`)).status).to.equal(204);
    });
  }
});
