import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const STEP = 'a'.repeat(40);

describe('Signals', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  const waitForSignal = (signal: string, opts: object = {}) => ({
    status: 206,
    body: [{ op: 'WaitForSignal', id: STEP, name: signal, displayName: 'w', opts: { signal, timeout: '1h', ...opts } }],
  });

  /** Continues with the result of its wait. */
  const waiting = (signal: string, opts?: object) => (call: Call) =>
    call.body.steps[STEP] === undefined ? waitForSignal(signal, opts) : { body: { got: call.body.steps[STEP] } };

  /** Registers a function with the handler and starts a run of it. @returns the ID of the event */
  let count = 0;
  const start = async (handler: ReturnType<typeof waiting>) => {
    const id = `f${count++}`;
    host.on(id, handler);
    await host.register(service, [{ id, triggers: [{ event: `signals/${id}` }], retries: 0 }], { appName: id });
    const { body } = await service.post('/e/key', { name: `signals/${id}`, data: {} });
    return body.ids[0] as string;
  };

  const runOf = async (eventId: string, isThere: (run: { status: string; ended_at: unknown }) => unknown) => {
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      ({ body }) => body.data?.length === 1 && Boolean(isThere(body.data[0])),
    );
    return body.data[0];
  };
  const ended = (eventId: string) => runOf(eventId, (run) => run.ended_at);
  const waits = async (eventId: string) => {
    const { run_id } = await runOf(eventId, () => true);
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
      body.data?.history.some((entry: { status: string }) => entry.status === 'Waiting'),
    );
    return run_id as string;
  };
  const signalKeys = async () =>
    (await keysOf(service.redis, service.prefix)).filter((key) => key.includes(':signals:'));
  const send = (signal: string, data?: unknown) =>
    service.post('/v1/signals', { signal, ...(data !== undefined && { data }) });

  it('a step is shown as waiting only once a signal can end it', async () => {
    const eventId = await start(waiting('order/early'));
    const runId = await waits(eventId);
    const pending = service.keys.of(runId).pending('production', runId);
    const step = JSON.parse((await service.redis.hget(pending, STEP)) as string);
    await service.redis.hset(pending, STEP, JSON.stringify({ ...step, beginning: true }));
    const { history, state } = (await service.get(`/v1/runs/${runId}`)).body.data;
    expect([history.map(({ status }: { status: string }) => status), state.kind]).to.deep.equal([
      ['Completed'],
      'running',
    ]);
    expect((await send('order/early')).status).to.equal(200);
    await ended(eventId);
  });

  it('a signal ends the step that waits for it once, and names its run', async () => {
    const eventId = await start(waiting('order/A1'));
    const runId = await waits(eventId);
    const responses = await Promise.all([1, 2, 3].map((by) => send('order/A1', { by })));
    expect(responses.map(({ status }) => status).sort()).to.deep.equal([200, 404, 404]);
    const taken = responses.findIndex(({ status }) => status === 200);
    expect(responses[taken]?.body.data).to.deep.equal({ run_id: runId });
    expect((await ended(eventId)).output).to.deep.equal({
      got: { data: { signal: 'order/A1', data: { by: taken + 1 } } },
    });
    expect(await signalKeys()).to.deep.equal([]);
  });

  it('a signal without data carries null; a signal that nobody waits for gets 404 with its code', async () => {
    const { status, body } = await send('nobody', 1);
    expect([status, body.code]).to.deep.equal([404, 'not_found']);
    const eventId = await start(waiting('empty'));
    await waits(eventId);
    await send('empty');
    expect((await ended(eventId)).output).to.deep.equal({ got: { data: { signal: 'empty', data: null } } });
  });

  it('a wait that times out ends with null and leaves the signal free', async () => {
    const eventId = await start(waiting('late', { timeout: '200ms' }));
    expect((await ended(eventId)).output).to.deep.equal({ got: null });
    const { run_id } = await ended(eventId);
    const { body } = await service.get(`/v1/runs/${run_id}`);
    const entry = body.data.history.find(({ op }: { op: string }) => op === 'WaitForSignal');
    expect([entry.name, entry.waits_for, entry.timed_out]).to.deep.equal(['w', 'late', true]);
    expect((await send('late')).status).to.equal(404);
  });

  it('a second wait for a signal fails its run, and the first one still gets the signal', async () => {
    const first = await start(waiting('one-at-a-time'));
    await waits(first);
    const second = await ended(await start(waiting('one-at-a-time', { conflict: 'fail' })));
    expect([second.status, second.error.name]).to.deep.equal(['Failed', 'SignalConflict']);
    expect((await send('one-at-a-time', 1)).status).to.equal(200);
    expect((await ended(first)).status).to.equal('Completed');
  });

  it('a wait that replaces another gets the signal; the replaced one times out', async () => {
    const first = await start(waiting('taken-over', { timeout: '1500ms' }));
    const forever = await start(waiting('taken-from-forever', { timeout: undefined }));
    await waits(first);
    await waits(forever);
    const second = await start(waiting('taken-over', { conflict: 'replace' }));
    const runId = await waits(second);
    await until(async () => (await send('taken-over', 2)).body.data?.run_id === runId, {
      describe: 'it has the signal',
    });
    expect((await ended(second)).output.got.data.data).to.equal(2);
    expect((await ended(first)).output).to.deep.equal({ got: null });
    await waits(await start(waiting('taken-from-forever', { conflict: 'replace' })));
    expect((await ended(forever)).output).to.deep.equal({ got: null });
    await send('taken-from-forever');
  });

  it('the end of a run frees its signals', async () => {
    const eventId = await start(waiting('freed'));
    await service.request('DELETE', `/v1/runs/${await waits(eventId)}`);
    await ended(eventId);
    expect(await signalKeys()).to.deep.equal([]);
    const next = await start(waiting('freed'));
    await waits(next);
    expect((await send('freed', 1)).status).to.equal(200);
    await ended(next);
  });

  it('a signal reaches only its own environment', async () => {
    const eventId = await start(waiting('here'));
    await waits(eventId);
    await service.post('/v1/environments', { name: 'other' });
    const elsewhere = await service.post('/v1/signals', { signal: 'here' }, { 'x-inngest-env': 'other' });
    expect(elsewhere.status).to.equal(404);
    expect((await send('here')).status).to.equal(200);
    await ended(eventId);
  });

  it('a wait for a signal without a name, or with a name that is too long, fails its run', async () => {
    expect((await ended(await start(waiting('')))).error.name).to.equal('InvalidWait');
    expect((await ended(await start(waiting('x'.repeat(1_025))))).error.name).to.equal('NameTooLong');
  });
});
