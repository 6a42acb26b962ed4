import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

/** Two of these exceed the size of a call request. */
const LARGE = 'x'.repeat(2_200_000);

describe('Run data for apps', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { EVENT_MAX_BYTES: '4000000' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('a call that is too large carries no data, and the app fetches its events and steps', async () => {
    const id = 'a'.repeat(40);
    host.on('f', ({ number }) => {
      if (number > 0) return { body: 'done' };
      return { status: 206, body: [{ id, op: 'StepRun', name: 's', displayName: 's', data: { n: 1 } }] };
    });
    await host.register(service, [{ id: 'f', triggers: [{ event: 'large/x' }] }]);
    await service.post('/e/key', { name: 'large/x', data: { text: LARGE } });
    await host.nextCall('f');
    const { body: call } = await host.nextCall('f');
    expect([call.use_api, call.ctx.use_api, call.events, call.steps]).to.deep.equal([true, true, [], {}]);
    const path = `/v0/runs/${call.ctx.run_id}`;
    const events = await service.get(`${path}/batch`);
    expect([events.status, events.body]).to.deep.equal([200, [call.event]]);
    const steps = await service.get(`${path}/actions`);
    expect([steps.status, steps.body]).to.deep.equal([200, { [id]: { data: { n: 1 } } }]);
  });

  it('GET /v0/runs/:id/batch and /actions use the environment that the app names, and reject an unknown one', async () => {
    const [run] = (await service.get('/v1/runs')).body.data;
    const read = async (env: string) => {
      const { status, body } = await service.get(`/v0/runs/${run.run_id}/actions`, { 'x-service-env': env });
      return [status, body.code];
    };
    await service.post('/v1/environments', { name: 'some-branch', kind: 'branch' });
    expect(await read('production')).to.deep.equal([200, undefined]);
    expect(await read('some-branch')).to.deep.equal([404, 'not_found']);
    for (const env of ['no-branch', 'a:b', '@branches', '../x', 'x'.repeat(5_000)]) {
      expect(await read(env), env).to.deep.equal([404, 'environment_unknown']);
    }
  });

  it('GET /v0/runs/:id/batch and /actions respond with 404 for an unknown run', async () => {
    for (const what of ['batch', 'actions']) {
      const { status, body } = await service.get(`/v0/runs/nope/${what}`);
      expect([status, body.code]).to.deep.equal([404, 'not_found']);
    }
  });
});
