import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, type HostResponse, startAppHost } from '../../support/app-host.ts';
import { type Service, startService } from '../../support/service.ts';

const hash = (name: string) => createHash('sha1').update(name).digest('hex');
const op = (kind: string, name: string, rest: object = {}) => ({
  op: kind,
  id: hash(name),
  name,
  displayName: name,
  ...rest,
});
const planned = (name: string) => op('StepPlanned', name, { opts: { parallelMode: 'race' } });
const progress = (...ops: object[]): HostResponse => ({ status: 206, body: ops });

describe('Overlapping calls of one run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const ended = async (eventId: string) => {
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    return body.data[0];
  };

  it('a call does not run a step that an earlier call is still planning', async () => {
    const planning = Promise.withResolvers<void>();
    const later = Promise.withResolvers<void>();
    let ran = 0;
    const told: boolean[] = [];
    const runIt = (name: string) => {
      if (name === 'y2') ran++;
      return progress(op('StepRun', name, { data: name }));
    };
    // y1, y2 and, in parallel, z: two calls find y2, one of them when nothing else is in progress.
    host.on('chains', async ({ stepId, body: { steps, ctx } }) => {
      if (stepId === hash('z')) await planning.promise;
      const requested = ['y1', 'y2', 'z'].find((name) => stepId === hash(name));
      if (requested) return runIt(requested);
      const done = (name: string) => hash(name) in steps;
      if (done('y2')) return { body: 'done' };
      if (!done('y1')) return progress(planned('y1'), planned('z'));
      if (!done('z')) {
        planning.resolve();
        await later.promise;
        return progress(planned('y2'), planned('z'));
      }
      told.push(ctx.disable_immediate_execution);
      const response = ctx.disable_immediate_execution ? progress(planned('y2')) : runIt('y2');
      // The earlier call's response comes after this one's.
      setImmediate(later.resolve);
      return response;
    });
    await host.register(service, [{ id: 'chains', triggers: [{ event: 'overlap/chains' }] }]);
    const { body } = await service.post('/e/key', { name: 'overlap/chains', data: {} });
    expect(await ended(body.ids[0])).to.deep.include({ status: 'Completed', output: 'done' });
    expect(told).to.deep.equal([true]);
    expect(ran).to.equal(1);
  });

  it('an attempt fails with a reason when the app starts a finished step again', async () => {
    host.on('forgetful', () => progress(op('StepRun', 'first', { data: 1 })));
    await host.register(service, [{ id: 'forgetful', retries: 1, triggers: [{ event: 'overlap/forgetful' }] }]);
    const { body } = await service.post('/e/key', { name: 'overlap/forgetful', data: {} });
    const run = await ended(body.ids[0]);
    expect(run.status).to.equal('Failed');
    expect(run.error.message).to.match(/^the app started step "first" again, which is finished; .*use_api/);
  });
});
