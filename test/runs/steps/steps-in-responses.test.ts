import { Queue } from 'bullmq';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import type { Loose } from './sdk-adapters.ts';
import { op, useStepBed } from './step-bed.ts';

describe('Steps in the responses of an app', () => {
  const bed = useStepBed();

  it('a run has a history of every attempt and step with its times, status and error', async () => {
    const responses = [
      { status: 206, body: [op('StepRun', 1, { data: 1 })] },
      { status: 206, body: [op('StepError', 2, { error: { name: 'Busy', message: 'not yet' } })] },
      { status: 206, body: [op('StepRun', 2, { data: 2 })] },
      { status: 206, body: [op('Sleep', 3, { name: '10ms' })] },
      { body: 'done' },
    ];
    bed.host.on('f', ({ number }) => responses[number] ?? {});
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'history/x' }] }], { appName: 'history' });
    const run = await bed.ended(await bed.send({ name: 'history/x', data: {} }));
    expect(
      run.history.map((entry: Loose) => [
        entry.kind,
        entry.op,
        entry.status,
        entry.attempt,
        entry.error?.message ?? null,
      ]),
    ).to.deep.equal([
      ['attempt', null, 'Completed', 0, null],
      ['step', 'StepRun', 'Completed', 0, null],
      ['attempt', null, 'Completed', 0, null],
      ['step', 'StepError', 'Failed', 0, 'not yet'],
      ['attempt', null, 'Completed', 1, null],
      ['step', 'StepRun', 'Completed', 1, null],
      ['attempt', null, 'Completed', 0, null],
      ['step', 'Sleep', 'Completed', null, null],
      ['attempt', null, 'Completed', 0, null],
    ]);
    for (const { started_at, ended_at } of run.history)
      expect(Date.parse(started_at)).to.be.at.most(Date.parse(ended_at));
    expect(bed.host.calls('f').map(({ body }) => body.ctx.stack)).to.deep.equal([
      { stack: [], current: 0 },
      { stack: [op('', 1).id], current: 1 },
      { stack: [op('', 1).id], current: 1 },
      { stack: [op('', 1).id, op('', 2).id], current: 2 },
      { stack: [op('', 1).id, op('', 2).id, op('', 3).id], current: 3 },
    ]);
    expect(bed.host.calls('f').at(-1)?.body.steps).to.deep.equal({
      [op('', 1).id]: { data: 1 },
      [op('', 2).id]: { data: 2 },
      [op('', 3).id]: null,
    });
  });

  it('new steps are planned while others are in progress, and run at once otherwise', async () => {
    // The second step ends when the call after the first has planned: then only that step is in progress.
    const planned = (runId: string) => async () => {
      const answered = await bed.service.redis.hmget(
        `${bed.service.keys.of(runId).prefix}:run:production:${runId}`,
        'answered_at',
        'planning:1',
      );
      return answered[0] === '1' && answered[1] === null;
    };
    bed.host.on('f', async ({ stepId, body }) => {
      if (stepId !== 'step') {
        const step = Number.parseInt(stepId as string, 16);
        if (step === 2)
          await until(planned(body.ctx.run_id), { describe: 'the call after the first step has planned' });
        return { status: 206, body: [op('StepRun', step, { data: 0 })] };
      }
      const done = Object.keys(body.steps).length;
      if (done === 2) return { body: 'done' };
      const race = { opts: { parallelMode: 'race' } };
      return { status: 206, body: [op('StepPlanned', 1, race), op('StepPlanned', 2, race)] };
    });
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'plan/x' }] }], { appName: 'plan' });
    await bed.ended(await bed.send({ name: 'plan/x', data: {} }));
    const general = bed.host.calls('f').filter(({ stepId }) => stepId === 'step');
    for (const { body } of general) {
      const done = Object.keys(body.steps).length;
      expect(body.ctx.disable_immediate_execution, `${done} done`).to.equal(done === 1);
    }
    expect(bed.host.calls('f').filter(({ stepId }) => stepId !== 'step').length).to.equal(2);
  });

  it('the first memo of a step wins', async () => {
    const release = Promise.withResolvers<void>();
    bed.host.on('f', async ({ stepId, body }) => {
      if (stepId !== 'step')
        return { status: 206, body: [op('StepRun', 1, { data: 'first' }), op('StepRun', 1, { data: 'second' })] };
      if (Object.keys(body.steps).length === 0)
        return { status: 206, body: [op('StepPlanned', 1), op('StepPlanned', 1)] };
      release.resolve();
      return { body: body.steps[op('', 1).id].data };
    });
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'memo/x' }] }], { appName: 'memo' });
    expect((await bed.ended(await bed.send({ name: 'memo/x', data: {} }))).output).to.equal('first');
    await release.promise;
  });

  it('a repeated result of a step causes no further call', async () => {
    bed.host.on('parent', ({ body }) => {
      const isFirst = Object.keys(body.steps).length === 0;
      const child = { opts: { function_id: 'twice-child' } };
      return { status: 206, body: [isFirst ? op('InvokeFunction', 1, child) : op('Sleep', 2, { name: '1h' })] };
    });
    bed.host.on('child', () => ({ body: 'done' }));
    const functions = ['parent', 'child'].map((id) => ({ id, triggers: [{ event: `twice/${id}` }] }));
    await bed.host.register(bed.service, functions, { appName: 'twice' });
    const eventId = await bed.send({ name: 'twice/parent', data: {} });
    const { body } = await bed.service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    const parentId = body.data[0].run_id as string;
    const { prefix } = bed.service.keys.of(parentId);
    const pending = `${prefix}:run:production:${parentId}:pending`;
    await until(() => bed.service.redis.hexists(pending, op('', 2).id), { describe: 'the run sleeps' });
    const runKey = `${prefix}:run:production:${parentId}`;
    await until(async () => (await bed.service.redis.hget(runKey, 'answered_at')) === '1', {
      describe: 'its call has a response',
    });

    // As if a worker had died after it notified the invoker and before it recorded that.
    const [child] = (await bed.service.get('/v1/runs?function_id=twice-child')).body.data;
    const jobKey = (id: string) => `${bed.service.keys.of(id).prefix}:queue:runs:${id}`;
    const connection = bed.service.redis.duplicate();
    const queue = new Queue('runs', { connection, prefix: `${prefix}:queue` });
    try {
      await until(async () => (await bed.service.redis.exists(jobKey(child.run_id))) === 0, {
        describe: 'it has told',
      });
      const ref = { env: 'production', runId: child.run_id, eventId: child.event_id, requestId: 'R' };
      const data = { ...ref, functionId: 'twice-child', kind: 'call', at: 0 };
      await queue.add('twice-child', data, { jobId: child.run_id });
      await until(async () => (await bed.service.redis.exists(jobKey(child.run_id))) === 0, {
        describe: 'it has told again',
      });
    } finally {
      await queue.close();
      connection.disconnect();
    }
    expect(await bed.service.redis.exists(jobKey(`${parentId}-1`))).to.equal(0);
    expect(bed.host.calls('parent').length).to.equal(2);
  });

  it('a call is retried when the app no longer has the step, or returns no operation', async () => {
    const responses = [
      { status: 206, body: [op('StepNotFound', 1)] },
      { status: 206, body: [{ id: 'x' }] },
      { status: 206, body: [] },
      { body: 'found' },
    ];
    bed.host.on('f', ({ number }) => responses[number] ?? {});
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'lost/x' }] }], { appName: 'lost' });
    const run = await bed.ended(await bed.send({ name: 'lost/x', data: {} }));
    expect([run.status, run.output, run.attempt]).to.deep.equal(['Completed', 'found', 3]);
    expect(run.history.map((entry: Loose) => entry.error?.name ?? null).slice(0, 1)).to.deep.equal([null]);
  });
});
