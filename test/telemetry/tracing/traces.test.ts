import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../../support/app-host.ts';
import { type Collector, startCollector } from '../../support/collector.ts';
import type { HttpResponse } from '../../support/http.ts';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const SERVER = 'server POST /e/:key';
const INGESTED = `${SERVER} > producer send ingest > consumer process ingest`;
const CALLED = `${INGESTED} > consumer process runs`;
const TRACE_URL_TEMPLATE = 'https://traces.example.com/t/{trace_id}?run={run_id}&env={env}';
const HEX = (bytes: number) => randomBytes(bytes).toString('hex');

/** A trace that a sender has started. */
function startedTrace(flags = '01') {
  const [traceId, spanId] = [HEX(16), HEX(8)];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

/** IDs of trace and span, and flags, that a call sent to the app. */
function propagated({ headers }: Call): string[] {
  return String(headers.traceparent).split('-').slice(1);
}

describe('A trace', () => {
  let collector: Collector;
  let service: Service;
  let host: AppHost;
  before(async () => {
    collector = await startCollector();
    service = await startService({ env: { ...collector.env, RETRY_SCALE: '0.0005', TRACE_URL_TEMPLATE } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
    await collector.close();
  });

  function send(event: string | object, headers?: Record<string, string>): Promise<HttpResponse> {
    const body = typeof event === 'string' ? { name: event, data: { card: 'SECRET-PAYLOAD' } } : event;
    return service.post('/e/SECRET-KEY', body, headers);
  }

  async function register(appName: string, event: string, ids = ['f'], retries = 3): Promise<void> {
    const functions = ids.map((id) => ({ id, triggers: [{ event }], retries }));
    expect((await host.register(service, functions, { appName })).status).to.equal(200);
  }

  it('connects the span of the sender with the span that the function receives', async () => {
    await register('one', 'one/x');
    const { traceId, spanId, headers } = startedTrace();
    const sent = await send('one/x', { ...headers, tracestate: 'vendor=abc' });
    expect(sent.status).to.equal(200);
    const call = await until(() => host.calls('f').find(({ body }) => body.event.name === 'one/x'), {
      describe: 'the function is called',
    });
    expect(await collector.tree(traceId, 5)).to.deep.equal([
      SERVER,
      `${SERVER} > producer send ingest`,
      INGESTED,
      CALLED,
      `${CALLED} > client POST`,
    ]);
    const [server, sending, ingesting, running, client] = [
      'POST /e/:key',
      'send ingest',
      'process ingest',
      'process runs',
      'POST',
    ].map((name) => collector.ofTrace(traceId).find((span) => span.name === name));
    expect(server?.parentSpanId).to.equal(spanId);
    expect(propagated(call)).to.deep.equal([traceId, client?.spanId, '01']);
    expect(call.headers.tracestate).to.equal('vendor=abc');

    expect([server, sending].map((span) => span?.service)).to.deep.equal(['tidegate-web', 'tidegate-web']);
    expect([ingesting, running, client].map((span) => span?.service)).to.deep.equal(Array(3).fill('tidegate-worker'));
    expect(server?.serviceVersion).to.match(/^\d+\.\d+\.\d+/);
    expect(server?.attributes).to.include({
      'http.request.method': 'POST',
      'http.route': '/e/:key',
      'url.path': '/e/:key',
      'http.response.status_code': 200,
      'tidegate.request.id': sent.headers.get('x-request-id'),
    });
    const event = { 'tidegate.event.id': sent.body.ids[0], 'tidegate.environment': 'production' };
    const run = { ...event, 'tidegate.run.id': call.body.ctx.run_id, 'tidegate.function.id': 'one-f' };
    expect(sending?.attributes).to.include({ ...event, 'tidegate.event.name': 'one/x', 'messaging.system': 'bullmq' });
    expect(ingesting?.attributes).to.include({ ...event, 'tidegate.event.name': 'one/x' });
    expect(running?.attributes).to.include({ ...run, 'bullmq.queue.name': 'runs' });
    expect(client?.attributes).to.include({ ...run, 'url.full': host.url, 'http.response.status_code': 200 });
  });

  it('is named and linked by the runs that are part of it', async () => {
    await register('named', 'named/x', ['n']);
    const { traceId, headers } = startedTrace();
    await send('named/x', headers);
    const { body } = await host.nextCall('n');
    const { data } = (await service.get(`/v1/runs/${body.ctx.run_id}`)).body;
    expect(data.trace_id).to.equal(traceId);
    expect(data.trace_url).to.equal(`https://traces.example.com/t/${traceId}?run=${data.run_id}&env=production`);
    const unrecorded = startedTrace('00');
    await send('named/x', unrecorded.headers);
    const second = await host.nextCall('n');
    const { data: other } = (await service.get(`/v1/runs/${second.body.ctx.run_id}`)).body;
    expect([other.trace_id, other.trace_url]).to.deep.equal([null, null]);
  });

  it('starts in the service when the sender has no span, and contains every function of the event', async () => {
    await register('fan', 'fan/x', ['g', 'h']);
    await send('fan/x');
    const calls = [await host.nextCall('g'), await host.nextCall('h')];
    const traces = calls.map((call) => propagated(call)[0] as string);
    expect(new Set(traces).size).to.equal(1);
    expect(await collector.tree(traces[0] as string, 7)).to.deep.equal(
      [
        SERVER,
        `${SERVER} > producer send ingest`,
        INGESTED,
        ...Array(2).fill(CALLED),
        ...Array(2).fill(`${CALLED} > client POST`),
      ].sort(),
    );
  });

  it('contains the transform of a webhook', async () => {
    await register('hook', 'hook/x', ['hooked']);
    const transform =
      'function transform(evt) { if (evt.bad) throw new Error("no"); return { name: "hook/x", data: evt }; }';
    const { body } = await service.post('/v1/webhooks', { name: 'hook', transform });
    const { pathname } = new URL(body.data.url);
    const good = startedTrace();
    await service.post(pathname, { n: 1 }, good.headers);
    expect(propagated(await host.nextCall('hooked'))[0]).to.equal(good.traceId);
    expect(await collector.tree(good.traceId, 6))
      .to.include(`${SERVER} > internal transform`)
      .and.include(CALLED);

    const bad = startedTrace();
    expect((await service.post(pathname, { bad: true }, bad.headers)).status).to.equal(400);
    const spans = await collector.trace(bad.traceId, 2);
    expect(spans.map(({ name, failed, attributes }) => [name, failed, attributes['error.type']])).to.deep.equal([
      ['transform', true, 'transform_failed'],
      // A client error is not a failure of the server.
      ['POST /e/:key', false, undefined],
    ]);
    expect(spans[0]?.attributes['tidegate.webhook.id']).to.equal(body.data.id);
    expect(collector.received).not.to.include(pathname.split('/').at(-1));
  });

  it('contains each attempt of a function, and shows which failed', async () => {
    host.on('flaky', ({ number }) =>
      number < 2 ? { status: 500, body: { name: 'Busy', message: 'SECRET-PAYLOAD' } } : { body: 'done' },
    );
    await register('flaky', 'flaky/x', ['flaky']);
    const { traceId, headers } = startedTrace();
    await send('flaky/x', headers);
    expect(await collector.tree(traceId, 9)).to.deep.equal([
      SERVER,
      `${SERVER} > producer send ingest`,
      INGESTED,
      ...Array(3).fill(CALLED),
      ...Array(3).fill(`${CALLED} > client POST`),
    ]);
    const tries = collector.ofTrace(traceId).filter(({ kind }) => kind === 'client');
    expect(
      tries.map(({ failed, attributes }) => [failed, attributes['tidegate.run.attempt'], attributes['error.type']]),
    ).to.deep.equal([
      [true, 0, '500'],
      [true, 1, '500'],
      [false, 2, undefined],
    ]);
    const jobs = collector.ofTrace(traceId).filter(({ name }) => name === 'process runs');
    expect(jobs.map(({ failed }) => failed)).to.deep.equal([true, true, false]);
  });

  it('continues in events that a function sends with its traceparent', async () => {
    host.on('sends', async ({ headers }) => {
      await send('sent/x', { traceparent: String(headers.traceparent) });
      return {};
    });
    await register('sends', 'sends/x', ['sends']);
    await register('sent', 'sent/x', ['sent']);
    const { traceId, headers } = startedTrace();
    await send('sends/x', headers);
    expect(propagated(await host.nextCall('sent'))[0]).to.equal(traceId);
    expect(await collector.tree(traceId, 10)).to.include(`${CALLED} > client POST > ${CALLED} > client POST`);
  });

  it('continues in functions that a function invokes, and in handlers of its failure', async () => {
    const step = { id: 'a'.repeat(40), op: 'InvokeFunction', name: 'call', opts: { function_id: 'invoked-invoked' } };
    host.on('invokes', ({ body }) =>
      body.ctx.stack.current === 0
        ? { status: 206, body: [step] }
        : { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'permanent' } },
    );
    await register('invokes', 'invokes/x', ['invokes']);
    await register('invoked', 'invoked/never', ['invoked']);
    await register('failures', 'inngest/function.failed', ['failures']);
    const { traceId, headers } = startedTrace();
    await send('invokes/x', headers);
    expect(propagated(await host.nextCall('invoked'))[0]).to.equal(traceId);
    const handler = await until(() => host.calls('failures').find((call) => propagated(call)[0] === traceId), {
      describe: "the failure's handler is called in the trace",
    });
    expect(handler.body.event.data.function_id).to.equal('invokes-invokes');
  });

  it('continues after a sleep, in another worker', async () => {
    const sleep = { id: 'b'.repeat(40), op: 'Sleep', name: '1s' };
    host.on('sleeps', ({ body }) =>
      body.ctx.stack.current === 0 ? { status: 206, body: [sleep] } : { body: 'awake' },
    );
    await register('sleeps', 'sleeps/x', ['sleeps']);
    const { traceId, headers } = startedTrace();
    await send('sleeps/x', headers);
    const first = await host.nextCall('sleeps');
    await service.waitFor(`/v1/runs/${first.body.ctx.run_id}`, ({ body }) => body.data.history.length > 0);
    await (service.workers.at(-1) as Service['workers'][number]).stop();
    service.workers.pop();
    await service.startWorker();
    const second = await host.nextCall('sleeps');
    expect([propagated(first)[0], propagated(second)[0]]).to.deep.equal([traceId, traceId]);
    await until(() => collector.ofTrace(traceId).filter(({ kind }) => kind === 'client').length === 2, {
      describe: 'both calls are collected',
    });
    const tree = await collector.tree(traceId, 8);
    // The second call ends the sleep.
    expect(tree.filter((path) => path === CALLED)).to.have.lengthOf(2);
    expect(tree.filter((path) => path.startsWith(`${CALLED} > producer add`))).to.have.lengthOf(1);
  });

  it('is separate for each request of a group commit', async () => {
    await register('group', 'group/x', ['group']);
    const jobs = new Map<unknown, Set<string>>();
    const sent = new Map<string, string>();
    // Concurrent requests usually share a job; if none of a round did, the test sends another round.
    await until(
      async () => {
        const round = Array.from({ length: 20 }, () => startedTrace());
        const responses = await Promise.all(round.map(({ headers }) => send('group/x', headers)));
        for (const [i, { body }] of responses.entries())
          sent.set(body.ids[0], (round[i] as { traceId: string }).traceId);
        for (const { traceId } of round) {
          const spans = await collector.trace(traceId, 5);
          const job = spans.find(({ name }) => name === 'process ingest')?.attributes['bullmq.job.id'];
          jobs.set(job, (jobs.get(job) ?? new Set()).add(traceId));
        }
        return [...jobs.values()].some((traces) => traces.size > 1);
      },
      { describe: 'two requests share an ingest job' },
    );
    for (const traceId of sent.values()) {
      expect(await collector.tree(traceId, 5))
        .to.have.lengthOf(5)
        .and.include(`${CALLED} > client POST`);
    }
    const calls = host.calls('group');
    expect(calls).to.have.lengthOf(sent.size);
    for (const call of calls) expect(propagated(call)[0]).to.equal(sent.get(call.body.event.id));
  });

  it('contains all events of a request', async () => {
    await register('batch', 'batch/x', ['batch']);
    const { traceId, headers } = startedTrace();
    await send(
      [1, 2, 3].map((n) => ({ name: 'batch/x', data: { n } })),
      headers,
    );
    const tree = await collector.tree(traceId, 9);
    expect(tree.filter((path) => path === INGESTED)).to.have.lengthOf(1);
    expect(tree.filter((path) => path === CALLED)).to.have.lengthOf(3);
    const ingesting = collector.ofTrace(traceId).find(({ name }) => name === 'process ingest');
    expect(ingesting?.attributes).to.include({ 'messaging.batch.message_count': 3 });
  });

  it('is not recorded if the sender does not record it, and leaves nothing in a job', async () => {
    const unrecorded = startedTrace('00');
    const mayEnd = Promise.withResolvers<object>();
    host.on('unrecorded', ({ number }) =>
      number === 0 ? { status: 500, body: { name: 'E', message: 'once' } } : mayEnd.promise,
    );
    await register('unrecorded', 'unrecorded/x', ['unrecorded']);
    const { body } = await send('unrecorded/x', unrecorded.headers);
    const calls = [await host.nextCall('unrecorded'), await host.nextCall('unrecorded')];
    // The flag tells the app not to record it either.
    for (const call of calls) expect(propagated(call)[2]).to.equal('00');
    const runId = calls[0]?.body.ctx.run_id;
    // The job is removed when it completes.
    const job = await service.redis.hgetall(`${service.prefix}:queue:runs:${runId}`);
    expect(job).to.include({ name: 'unrecorded-unrecorded' }).and.not.have.property('tm');
    expect(JSON.parse(job.opts as string)).to.not.have.any.keys('tm', 'omc');
    mayEnd.resolve({});
    await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.ended_at);
    const run = await service.redis.hgetall(`${service.prefix}:run:production:${runId}`);
    expect(run).to.include({ s: 'Completed' }).and.not.have.property('trace');

    const recorded = startedTrace();
    await send('one/x', recorded.headers);
    await collector.trace(recorded.traceId, 5);
    expect(collector.ofTrace(unrecorded.traceId)).to.deep.equal([]);
    expect(collector.received).not.to.include(body.ids[0]).and.not.to.include(unrecorded.traceId);
  });

  it('contains no key and no payload, and only traces are exported', async () => {
    expect((await service.post('/e/SECRET-KEY/and/more', {})).status).to.equal(404);
    const last = startedTrace();
    await send('one/x', last.headers);
    await collector.trace(last.traceId, 5);
    expect(collector.received).to.include('/e/:key').and.not.include('SECRET');
    expect(new Set(collector.paths)).to.deep.equal(new Set(['/v1/traces']));
    // Every span belongs to a request: BullMQ's housekeeping creates no traces.
    const traceIds = new Set(collector.spans.filter(({ kind }) => kind === 'server').map(({ traceId }) => traceId));
    expect(collector.spans.filter(({ traceId }) => !traceIds.has(traceId)).map(({ name }) => name)).to.deep.equal([]);
  });
});
