import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { JSON_TEXT, type MessageFormat, PROTOBUF } from '../../src/functions/connect/formats.ts';
import {
  Checkpoint,
  CheckpointAck,
  FlushResponse,
  KIND,
  REPLY_STATUS,
  Reply,
} from '../../src/functions/connect/messages.ts';
import { ConnectedInstance, type InstanceOptions } from '../support/connected-app.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const SETTINGS = {
  CONNECT_LEASE_SECONDS: '4',
  RETRY_SCALE: '0.001',
  STALLED_AFTER_SECONDS: '2',
  SHUTDOWN_GRACE_SECONDS: '1',
};

describe('A call over a connection', () => {
  let service: Service;
  let instances: ConnectedInstance[] = [];
  let event = 0;
  before(async () => {
    service = await startService({ processes: true, webs: 2, env: SETTINGS });
  });
  after(() => service.stop());
  afterEach(async () => {
    await Promise.all(instances.map((instance) => instance.close()));
    instances = [];
  });

  /** @param web index of the web process */
  async function connect(options: InstanceOptions & { web?: number } = {}): Promise<ConnectedInstance> {
    const { web = 0, retries = 1 } = options as { web?: number; retries?: number };
    const functions = [{ id: 'ship', triggers: [{ event: 'order/paid' }], retries }];
    const instance = await ConnectedInstance.connect(service.urls[web] as string, { functions, ...options });
    instances.push(instance);
    return instance;
  }

  /** @returns the event's ID */
  async function send(data: object = {}): Promise<string> {
    const { body } = await service.post('/e/key', { name: 'order/paid', data: { n: ++event, ...data } });
    return body.ids[0];
  }

  const runOf = async (eventId: string) => (await service.get(`/v1/events/${eventId}/runs`)).body.data[0];

  async function ended(eventId: string) {
    const response = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
    return response.body.data[0];
  }

  for (const [name, format] of [
    ['protobuf', PROTOBUF],
    ['JSON', JSON_TEXT],
  ] as const) {
    it(`carries what an HTTP call carries, and its reply completes the run, in ${name}`, async () => {
      const instance = await connect({ format });
      const eventId = await send({ total: 7 });
      const call = await instance.nextCall();
      expect(call).to.include({ appName: 'shop', functionSlug: 'shop-ship', stepId: 'step' });
      const { ctx, event, steps, version } = JSON.parse(Buffer.from(call.requestPayload).toString());
      expect(event.data.total).to.equal(7);
      expect({ runId: ctx.run_id, attempt: ctx.attempt, steps, version }).to.deep.equal({
        runId: call.runId,
        attempt: 0,
        steps: {},
        version: -1,
      });
      expect(JSON.parse(Buffer.from(call.userTraceCtx).toString())).to.have.keys('traceparent', 'tracestate');
      instance.acknowledge(call);
      await instance.complete(call, { shipped: 7 });
      expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 0 });
      expect((await runOf(eventId)).output).to.deep.equal({ shipped: 7 });
    });
  }

  it('passes through Redis at any size, and so does its reply', async () => {
    const instance = await connect();
    const text = 'x'.repeat(400_000);
    const eventId = await send({ text });
    const call = await instance.nextCall();
    expect(JSON.parse(Buffer.from(call.requestPayload).toString()).event.data.text).to.equal(text);
    instance.acknowledge(call);
    await instance.complete(call, 'y'.repeat(3_000_000));
    expect((await ended(eventId)).status).to.equal('Completed');
    // The worker removes the call after it has applied the reply.
    const left = () => service.redis.keys(`${service.prefix}:connect-call:*`);
    await until(async () => (await left()).length === 0, { describe: 'the call is removed' });
  });

  it('fails permanently when its reply is too large', async () => {
    const instance = await connect({ functions: [{ id: 'ship', triggers: [{ event: 'order/paid' }], retries: 3 }] });
    const eventId = await send();
    const call = await instance.nextCall();
    instance.acknowledge(call);
    await instance.complete(call, 'y'.repeat(9_000_000));
    const run = await ended(eventId);
    expect(run).to.include({ status: 'Failed', attempt: 0 });
    expect(run.error.name).to.equal('OutputTooLarge');
  });

  it('stores steps while it runs, and gets the same response to each checkpoint as over HTTP', async () => {
    const instance = await connect({ format: JSON_TEXT });
    const eventId = await send();
    const call = await instance.nextCall();
    instance.acknowledge(call);
    const { ctx } = JSON.parse(Buffer.from(call.requestPayload).toString());
    const step = (op: string) => ({ id: createHash('sha1').update('pack').digest('hex'), name: 'pack', op, data: 7 });
    let sent = 0;
    const store = async (body: object | string, runId = call.runId) => {
      const checkpointId = String(++sent);
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      instance.send(KIND.workerCheckpoint, Checkpoint, { checkpointId, runId, body: bytes });
      const response = (await instance.frame(KIND.workerCheckpointAck)).read(CheckpointAck);
      expect(response.checkpointId).to.equal(checkpointId);
      return [response.status, response.code];
    };
    const { qi_id } = ctx;
    const foreign = Buffer.from(JSON.stringify(['other', 0, 1])).toString('base64url');
    expect(await store({ qi_id, steps: [step('StepRun')] })).to.deep.equal([200, '']);
    expect(await store({ qi_id, steps: [step('Sleep')] })).to.deep.equal([400, 'input_invalid']);
    expect(await store('{"qi_id"')).to.deep.equal([400, 'body_not_json']);
    expect(await store({ qi_id: foreign, steps: [] })).to.deep.equal([401, 'credentials_invalid']);
    expect(await store({ qi_id, steps: [] }, 'nonsense')).to.deep.equal([404, 'not_found']);
    expect(await store({ qi_id, steps: [] }, eventId)).to.deep.equal([404, 'not_found']);
    await instance.complete(call, 'shipped');
    const { run_id } = await ended(eventId);
    const { history, output } = (await service.get(`/v1/runs/${run_id}`)).body.data;
    expect(output).to.equal('shipped');
    expect(history.map(({ name }: { name: string }) => name)).to.include('pack');
    expect(await store({ qi_id, steps: [step('StepRun')] })).to.deep.equal([409, 'run_ended']);
  });

  it('is repeated after the delay that a failed attempt asks for', async () => {
    const instance = await connect();
    const eventId = await send();
    const first = await instance.nextCall();
    instance.acknowledge(first);
    const body = Buffer.from(JSON.stringify({ name: 'Error', message: 'no stock' }));
    await instance.reply({ requestId: first.requestId, status: REPLY_STATUS.error, body, retryAfter: '1' });
    const second = await instance.nextCall();
    expect(second.requestId).not.to.equal(first.requestId);
    await instance.reply({ requestId: second.requestId, status: REPLY_STATUS.error, body, noRetry: true });
    const run = await ended(eventId);
    expect(run).to.include({ status: 'Failed', attempt: 1 });
    expect(run.error.message).to.equal('no stock');
  });

  it('waits in the queue for a connection, without using up an attempt', async () => {
    const before = await connect();
    await before.close();
    const eventId = await send();
    await service.waitFor('/v1/overview', ({ body }) => JSON.stringify(body).includes('"delayed":1'));
    expect(await runOf(eventId)).to.include({ status: 'Queued', attempt: 0, run_started_at: null });
    const instance = await connect();
    const call = await instance.nextCall();
    await instance.complete(call);
    expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 0 });
  });

  it('goes to the connection with the most free capacity, within its concurrency', async () => {
    const small = await connect({ instanceId: 'small', concurrency: 1 });
    const large = await connect({ instanceId: 'large', concurrency: 2, web: 1 });
    const ids = await Promise.all(Array.from({ length: 5 }, () => send()));
    const held = [await small.nextCall(), await large.nextCall(), await large.nextCall()];
    for (const [i, call] of held.entries()) (i === 0 ? small : large).acknowledge(call);
    await service.waitFor('/v1/overview', ({ body }) => JSON.stringify(body).includes('"delayed":2'));
    expect([small.calls.length, large.calls.length]).to.deep.equal([1, 2]);
    await small.complete(held[0] as never);
    await small.complete(await small.nextCall());
    await Promise.all([large.complete(held[1] as never), large.complete(held[2] as never)]);
    await until(() => small.calls.length + large.calls.length === 5, { describe: 'all calls are made' });
    for (const one of [small, large])
      while (one.calls.length > 0) {
        const call = one.calls.pop();
        if (call) await one.complete(call).catch(() => undefined);
      }
    for (const id of ids) expect((await ended(id)).status).to.equal('Completed');
  });

  it('goes to another connection at once when its own closes before it has acknowledged the call', async () => {
    const first = await connect({ instanceId: 'first' });
    const eventId = await send();
    const call = await first.nextCall();
    const second = await connect({ instanceId: 'second', web: 1 });
    await first.terminate();
    const again = await second.nextCall();
    expect(again.requestId).to.equal(call.requestId);
    expect(again.leaseId).not.to.equal(call.leaseId);
    await second.complete(again);
    expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 0 });
  });

  it('goes to another connection when its own does not acknowledge it and loses the lease', async () => {
    const first = await connect({ instanceId: 'first' });
    const eventId = await send();
    const call = await first.nextCall();
    const second = await connect({ instanceId: 'second' });
    const again = await second.nextCall();
    second.acknowledge(again);
    expect(await first.extend(call)).to.equal(undefined);
    expect(await second.extend(again)).to.equal(again.leaseId);
    await second.complete(again);
    expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 0 });
  });

  it('counts as an attempt without a response when its lease is not extended', async () => {
    const first = await connect({ instanceId: 'first' });
    const eventId = await send();
    const call = await first.nextCall();
    first.acknowledge(call);
    await until(async () => (await runOf(eventId)).status === 'Running', { describe: 'the run is running' });
    await first.terminate();
    const second = await connect({ instanceId: 'second' });
    const again = await second.nextCall();
    expect(again.requestId).not.to.equal(call.requestId);
    expect(JSON.parse(Buffer.from(again.requestPayload).toString()).ctx.attempt).to.equal(1);
    await second.complete(again);
    expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 1 });
  });

  it('continues over another connection of its instance, at another gateway', async () => {
    const first = await connect();
    const eventId = await send();
    const call = await first.nextCall();
    first.acknowledge(call);
    expect(await first.extend(call)).to.equal(call.leaseId);
    await first.terminate();
    const second = await connect({ web: 1 });
    for (let i = 0; i < 5; i++) {
      expect(await second.extend(call)).to.equal(call.leaseId);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    await second.complete(call, 'late but there');
    expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 0, output: 'late but there' });
    expect(second.calls).to.deep.equal([]);
  });

  it('accepts the reply that its instance flushes, and ignores later ones', async () => {
    const instance = await connect();
    const eventId = await send();
    const call = await instance.nextCall();
    instance.acknowledge(call);
    await instance.terminate();
    const { requestId } = call;
    const flush = async (output: string, { contentType, body, readBody }: MessageFormat) => {
      const reply = { requestId, status: REPLY_STATUS.done, body: Buffer.from(JSON.stringify(output)) };
      const response = await fetch(`${service.urls[1]}/v0/connect/flush`, {
        method: 'POST',
        headers: { 'content-type': contentType },
        body: body(Reply, reply),
      });
      expect(readBody(FlushResponse, Buffer.from(await response.arrayBuffer()))).to.deep.equal({ requestId });
    };
    await flush('first', JSON_TEXT);
    await flush('second', PROTOBUF);
    expect((await ended(eventId)).output).to.equal('first');
    await flush('third', JSON_TEXT);
    expect((await runOf(eventId)).output).to.equal('first');
  });

  it('does not go to a paused instance, which finishes the calls that it has', async () => {
    const first = await connect({ instanceId: 'first' });
    const eventId = await send();
    const call = await first.nextCall();
    first.acknowledge(call);
    first.send(KIND.workerPause);
    const second = await connect({ instanceId: 'second' });
    await until(
      async () =>
        (await service.get('/v1/apps/shop/connections')).body.data.some(
          ({ status }: { status: string }) => status === 'paused',
        ),
      { describe: 'one connection is paused' },
    );
    const others = await Promise.all([send(), send()]);
    for (const _ of others) await second.complete(await second.nextCall());
    expect(await first.extend(call)).to.equal(call.leaseId);
    await first.complete(call, 'done');
    expect((await ended(eventId)).output).to.equal('done');
    expect(first.calls).to.have.length(1);
    for (const id of others) await ended(id);
  });

  for (const [what, end] of [
    ['dies', (worker) => worker.kill()],
    ['shuts down', (worker) => worker.stop()],
  ] as [string, (worker: ServiceProcess) => Promise<void>][]) {
    it(`is not made twice when the worker that waits for its reply ${what}`, async () => {
      const instance = await connect();
      const eventId = await send();
      const call = await instance.nextCall();
      instance.acknowledge(call);
      // The last one may have no response.
      const extending = setInterval(() => void instance.extend(call).catch(() => undefined), 1_000);
      const [worker] = service.workers.splice(0, 1);
      await end(worker as ServiceProcess);
      await service.startWorker();
      clearInterval(extending);
      await instance.complete(call, 'once');
      expect(await ended(eventId)).to.include({ status: 'Completed', attempt: 0, output: 'once' });
      expect(instance.calls).to.have.length(1);
    });
  }

  it('survives the death of its gateway', async () => {
    const web = await service.startWeb();
    const instance = await ConnectedInstance.connect(`http://127.0.0.1:${web.port}`, {
      functions: [{ id: 'ship', triggers: [{ event: 'order/paid' }] }],
    });
    const acknowledged = await send();
    const call = await instance.nextCall();
    instance.acknowledge(call);
    await instance.extend(call);
    const waiting = await send();
    await instance.nextCall();
    await web.kill();
    const next = await connect();
    expect(await next.extend(call)).to.equal(call.leaseId);
    await next.complete(await next.nextCall());
    await next.complete(call, 'survived');
    expect((await ended(acknowledged)).output).to.equal('survived');
    expect(await ended(waiting)).to.include({ status: 'Completed', attempt: 0 });
  });
});
