import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Inngest } from 'inngest';
import { serve } from 'inngest/node';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const idOf = (letter: string) => letter.repeat(40);
const ran = (letter: string, data: unknown) => ({
  status: 206,
  body: [{ id: idOf(letter), op: 'StepRun', name: letter, displayName: letter, data }],
});

describe('Re-running a run from a step', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { STALLED_AFTER_SECONDS: '0.5' } });
    host = await startAppHost();
    host.on('three', threeSteps);
    host.on('sleeps', ({ body }) =>
      body.ctx.stack.stack.length > 0
        ? { body: 'awake' }
        : { status: 206, body: [{ id: idOf('s'), op: 'Sleep', opts: { duration: '10ms' } }] },
    );
    await host.register(service, [
      { id: 'three', triggers: [{ event: 'three/x' }] },
      { id: 'sleeps', triggers: [{ event: 'sleeps/x' }] },
    ]);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  /** Steps a, b and c, with the number of the call as their data. */
  function threeSteps({ body, number }: Call) {
    const next = ['a', 'b', 'c'][body.ctx.stack.stack.length];
    return next === undefined ? { body: Object.values(body.steps) } : ran(next, number);
  }
  async function runOf(name: string): Promise<string> {
    const [id] = (await service.post('/e/key', { name: `${name}/x`, data: {} })).body.ids;
    const { body } = await service.waitFor(`/v1/events/${id}/runs`, (response) => response.body.data?.[0]?.ended_at);
    return body.data[0].run_id;
  }
  const rerun = (runId: string, from_step: object) => service.post(`/v1/runs/${runId}/retry`, { from_step });
  async function ended(runId: string) {
    const { body } = await service.waitFor(`/v1/runs/${runId}`, (response) => response.body.data?.ended_at);
    return body.data;
  }

  it('keeps the results of the steps before it, and runs it and those after it again', async () => {
    const first = await runOf('three');
    const calls = host.calls('three').length;
    const { status, body } = await rerun(first, { step_id: idOf('b') });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.data).to.include({ retry_of: first, from_step: idOf('b') });
    const run = await ended(body.data.run_id);
    const [before] = (await service.get(`/v1/runs/${first}`)).body.data.output;
    expect(run.output).to.deep.equal([before, { data: calls }, { data: calls + 1 }]);
    const [called] = host.calls('three').slice(calls);
    expect(called?.body.ctx.stack.stack).to.deep.equal([idOf('a')]);
    expect((await service.get(`/v1/runs/${run.run_id}/steps/${idOf('a')}`)).body.data.data).to.equal(before.data);
  });

  it('starts over from the first step, and repeats what a failed run did not finish', async () => {
    const first = await runOf('three');
    const { body } = await rerun(first, { step_id: idOf('a') });
    expect((await ended(body.data.run_id)).output.map(({ data }: { data: number }) => data)).to.have.length(3);
    const again = await rerun(body.data.run_id, { step_id: idOf('c') });
    expect((await ended(again.body.data.run_id)).retry_of).to.equal(body.data.run_id);
  });

  it('names the runs whose results it uses, latest first, in its calls', async () => {
    const first = await runOf('three');
    expect(host.calls('three').at(-1)?.body.ctx).to.not.have.property('rerun_of');
    const { body: second } = await rerun(first, { step_id: idOf('b') });
    await ended(second.data.run_id);
    const { body: third } = await rerun(second.data.run_id, { step_id: idOf('c') });
    await ended(third.data.run_id);
    expect(host.calls('three').at(-1)?.body.ctx.rerun_of).to.deep.equal([second.data.run_id, first]);
  });

  it('returns the same run while it is active, and another one for another step', async () => {
    let respond = () => {};
    const first = await runOf('three');
    host.on('three', (call) => new Promise((resolve) => (respond = () => resolve(threeSteps(call)))));
    const { body: one } = await rerun(first, { step_id: idOf('c') });
    const { body: same } = await rerun(first, { step_id: idOf('c') });
    const { body: other } = await rerun(first, { step_id: idOf('b') });
    expect(same.data.run_id).to.equal(one.data.run_id);
    expect(other.data.run_id).to.not.equal(one.data.run_id);
    host.on('three', threeSteps);
    respond();
    for (const { run_id } of [one.data, other.data]) await service.request('DELETE', `/v1/runs/${run_id}`);
  });

  it('is completed by the reconciler when the process that created the run died', async () => {
    const first = await runOf('three');
    const { body } = await rerun(first, { step_id: idOf('c') });
    const done = await ended(body.data.run_id);
    // The state right after its creation.
    const keys = service.keys.of(done.run_id);
    const key = keys.run('production', done.run_id);
    const calls = host.calls('three').length;
    await service.redis
      .multi()
      .del(`${key}:stack`, `${key}:memos`, `${key}:history`)
      .hdel(key, 'b', 'x', 'o', 'answered_at', 'memo_bytes')
      .hset(key, 's', 'Queued')
      .persist(key)
      .zadd(keys.activeRuns, 0, `production/${done.run_id}`)
      .exec();
    await until(() => host.calls('three').length > calls, { describe: 'the run is called' });
    expect(host.calls('three')[calls]?.body.ctx.stack.stack).to.deep.equal([idOf('a'), idOf('b')]);
  });

  it('names a wrong step or field', async () => {
    const three = await runOf('three');
    const sleeps = await runOf('sleeps');
    for (const [runId, from_step, field, detail] of [
      [three, { step_id: idOf('x') }, 'from_step.step_id', `("a")`],
      [three, { step_id: '' }, 'from_step.step_id', ''],
      [three, { step_id: idOf('a'), input: [1] }, 'from_step.input', 'official TypeScript SDK'],
      [sleeps, { step_id: idOf('s'), input: [1] }, 'from_step.input', 'a step of the kind Sleep takes no input'],
      [three, { step_id: idOf('a'), input: { a: 1 } }, 'from_step.input', 'expected a list'],
    ] as const) {
      const { status, body } = await rerun(runId, from_step);
      expect([status, body.code, body.field], JSON.stringify(body)).to.deep.equal([400, 'input_invalid', field]);
      expect(body.error).to.include(detail);
    }
  });

  it('gives the step other arguments, in an app with the official SDK', async () => {
    const client = new Inngest({ id: 'sdk', isDev: true, baseUrl: service.url });
    const fn = client.createFunction({ id: 'adds', triggers: [{ event: 'adds/x' }] }, async ({ step }) => {
      const first = await step.run('first', () => Math.random());
      const sum = await step.run('sum', (a: number, b: number) => a + b, 1, 2);
      return { first, sum };
    });
    const server = createServer(serve({ client, functions: [fn] }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`;
      expect((await service.post('/v1/apps', { url })).status).to.equal(200);
      const first = await ended(await runOf('adds'));
      expect(first.output.sum).to.equal(3);
      const step_id = first.history.find(({ name }: { name: string }) => name === 'sum').step_id;
      const { status, body } = await rerun(first.run_id, { step_id, input: [20, 22] });
      expect(status, JSON.stringify(body)).to.equal(201);
      expect((await ended(body.data.run_id)).output).to.deep.equal({ first: first.output.first, sum: 42 });
      const unedited = await rerun(first.run_id, { step_id });
      expect((await ended(unedited.body.data.run_id)).output).to.deep.equal(first.output);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
