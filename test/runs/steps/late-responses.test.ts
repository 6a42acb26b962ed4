import { expect } from 'chai';
import { findKeys } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { op, useStepBed } from './step-bed.ts';

describe('A response that comes late', () => {
  const bed = useStepBed();

  it('a registration does not disturb the app’s runs in flight', async () => {
    const release = Promise.withResolvers<object>();
    bed.host.on('f', ({ number }) =>
      number === 0 ? { status: 206, body: [op('Sleep', 1, { name: '500ms' })] } : release.promise,
    );
    const functions = [{ id: 'f', triggers: [{ event: 'again/x' }] }];
    await bed.host.register(bed.service, functions, { appName: 'again' });
    const id = await bed.send({ name: 'again/x', data: {} });
    await bed.host.nextCall('f');
    await bed.host.register(bed.service, [{ id: 'other', triggers: [{ event: 'again/other' }] }], { appName: 'again' });
    await bed.host.nextCall('f');
    await bed.host.register(bed.service, functions, { appName: 'again' });
    release.resolve({ body: 'undisturbed' });
    const run = await bed.ended(id);
    expect([run.status, run.output]).to.deep.equal(['Completed', 'undisturbed']);
    expect(bed.host.calls('f').length).to.equal(2);
  });

  it('an ended run cannot be cancelled, and a cancelled run stays cancelled when the response of its call arrives', async () => {
    const release = Promise.withResolvers<object>();
    bed.host.on('f', () => release.promise);
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'cancel/x' }] }], { appName: 'cancel' });
    const id = await bed.send({ name: 'cancel/x', data: {} });
    const call = await bed.host.nextCall('f');
    const path = `/v1/runs/${call.body.ctx.run_id}`;
    expect((await bed.service.request('DELETE', path)).body.data.status).to.equal('Cancelled');
    release.resolve({ body: 'too late' });
    expect((await bed.service.request('DELETE', path)).status).to.equal(200);
    bed.host.on('f', () => ({ body: 'done' }));
    const other = await bed.ended(await bed.send({ name: 'cancel/x', data: {} }));
    const refused = await bed.service.request('DELETE', `/v1/runs/${other.run_id}`);
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'run_ended']);
    expect((await bed.ended(id)).output).to.equal(null);
    expect((await bed.service.request('DELETE', '/v1/runs/nope')).status).to.equal(404);
  });

  it('a late response leaves nothing permanent for a run that was cancelled during the call', async () => {
    for (const [late, response] of Object.entries({
      failed: { status: 500, body: { name: 'Late', message: 'too late' } },
      progress: { status: 206, body: [op('StepRun', 1, { data: 1 })] },
    })) {
      const release = Promise.withResolvers<object>();
      bed.host.on(late, () => release.promise);
      await bed.host.register(bed.service, [{ id: late, triggers: [{ event: `late/${late}` }] }], {
        appName: `late-${late}`,
      });
      await bed.send({ name: `late/${late}`, data: {} });
      const call = await bed.host.nextCall(late);
      const runId = call.body.ctx.run_id as string;
      await bed.service.request('DELETE', `/v1/runs/${runId}`);
      release.resolve(response);
      const jobKey = `${bed.service.keys.of(runId).prefix}:queue:runs:${runId}`;
      // Completed jobs are not kept.
      await until(async () => (await bed.service.redis.exists(jobKey)) === 0, { describe: 'its job is done' });
      const history = `${bed.service.keys.of(runId).prefix}:run:production:${runId}:history`;
      expect(await bed.service.redis.llen(history), late).to.be.greaterThan(0);
      expect(await bed.service.redis.pttl(history), late).to.be.greaterThan(0);
      const run = (await bed.service.get(`/v1/runs/${runId}`)).body.data;
      expect([run.status, run.error, run.output], late).to.deep.equal(['Cancelled', null, null]);
    }
  });

  it('a late response does not restore a run of a deleted environment', async () => {
    for (const [gone, response] of Object.entries({
      ended: { body: 'done' },
      failed: { status: 500, body: { name: 'Late', message: 'too late' } },
      progress: {
        status: 206,
        body: [op('StepRun', 1, { data: 1 }), op('Sleep', 2, { opts: { duration: '1h' } }), op('StepPlanned', 3, {})],
      },
    })) {
      const release = Promise.withResolvers<object>();
      bed.host.on(gone, () => release.promise);
      await bed.host.register(bed.service, [{ id: gone, triggers: [{ event: `gone/${gone}` }], retries: 0 }], {
        appName: `gone-${gone}`,
      });
      await bed.send({ name: `gone/${gone}`, data: {} });
      const call = await bed.host.nextCall(gone);
      const runId = call.body.ctx.run_id as string;
      const ofRun = () => findKeys(bed.service.redis, bed.service.prefix, new RegExp(`^:run:.*${runId}`));
      for (const key of await ofRun()) await bed.service.redis.del(key);
      release.resolve(response);
      const active = `${bed.service.keys.of(runId).prefix}:queue:runs:active`;
      await until(async () => (await bed.service.redis.llen(active)) === 0, { describe: 'its job is done' });
      expect(await ofRun(), gone).to.deep.equal([]);
    }
  });
});
