/** The events that the service sends about the end of runs, and about invocations. */
import { expect } from 'chai';
import { rawJson } from '../../src/model/values/json.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { step } from './responses/cases/entry.ts';

const FINISHED = 'inngest/function.finished';
const CANCELLED = 'inngest/function.cancelled';
const INVOKED = 'inngest/function.invoked';
const PAUSED = 'tidegate/run.paused';

describe('Events about runs', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0001' } });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  const send = async (name: string): Promise<string> =>
    (await service.post('/e/key', { name, data: {} })).body.ids[0] as string;

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async function runOf(eventId: string, isDone: (run: any) => unknown = (run) => run.ended_at): Promise<any> {
    const path = `/v1/events/${eventId}/runs`;
    return (await service.waitFor(path, ({ body }) => body.data?.[0] && isDone(body.data[0]))).body.data[0];
  }

  async function stored(name: string, functionId: string): Promise<number> {
    const { body } = await service.get(`/v1/events?name=${name}`);
    const isOf = ({ data }: { data: { function_id: string } }) => data.function_id === functionId;
    return body.data.filter(isOf).length;
  }

  it('an event about the end of a run has the digits of its event and of its result, and expressions compare them', async () => {
    const [order, other, payment] = ['1234567890123456789', '1234567890123456788', '9007199254740993'];
    host.on('pays', () => ({ body: { payment: rawJson(payment) } }));
    const listens = (n: string) => ({
      event: FINISHED,
      expression: `event.data.event.data.order == ${n} && event.data.result.payment == ${payment}`,
    });
    const functions = [
      { id: 'pays', triggers: [{ event: 'digits/x' }] },
      { id: 'on-other', triggers: [listens(other)] },
      { id: 'on-order', triggers: [listens(order)] },
    ];
    await host.register(service, functions, { appName: 'digits' });
    const { body } = await service.post('/e/key', `{"name":"digits/x","data":{"order":${order}}}`);
    const { run_id } = await runOf(body.ids[0]);
    await host.nextCall('on-order');
    expect(host.calls('on-other')).to.have.length(0);
    const events = await (
      await fetch(`${service.url}/v1/events?name=${FINISHED}`, { headers: service.apiHeaders })
    ).text();
    const ofRun = JSON.parse(events).data.find(({ data }: { data: { run_id: string } }) => data.run_id === run_id);
    const text = await (
      await fetch(`${service.url}/v1/events/${ofRun.internal_id}`, { headers: service.apiHeaders })
    ).text();
    expect(text.split(order)).to.have.length(3);
    expect(text).to.include(payment);
  });

  it('a run that completes or fails triggers the functions that listen, and its event is stored only for them', async () => {
    host.on('good', () => ({ body: { paid: true } }));
    host.on('bad', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: { message: 'no' } }));
    const listens = (id: string) => ({ event: FINISHED, expression: `event.data.function_id == 'fin-${id}'` });
    await host.register(
      service,
      [
        { id: 'good', triggers: [{ event: 'fin/good' }] },
        { id: 'bad', triggers: [{ event: 'fin/bad' }] },
        { id: 'other', triggers: [{ event: 'fin/other' }] },
        { id: 'on-good', triggers: [listens('good')] },
        { id: 'on-bad', triggers: [listens('bad')] },
      ],
      { appName: 'fin' },
    );
    await runOf(await send('fin/other'));
    const good = await runOf(await send('fin/good'));
    const { body } = await host.nextCall('on-good');
    const { event } = body.event.data;
    expect(event.name).to.equal('fin/good');
    expect(body.event.data).to.deep.equal({
      function_id: 'fin-good',
      run_id: good.run_id,
      event,
      events: [event],
      result: { paid: true },
      _inngest: { status: 'Completed' },
    });
    await runOf(await send('fin/bad'));
    const failed = (await host.nextCall('on-bad')).body.event.data;
    expect(failed.error).to.deep.include({ error: 'NonRetriableError', message: 'no' });
    expect(failed.result).to.deep.equal({ message: 'no' });
    expect(failed._inngest).to.deep.equal({ status: 'Failed' });
    expect(await stored(FINISHED, 'fin-other')).to.equal(0);
    // The end of the listening run is not told: it would listen to itself forever.
    await runOf(body.event.id);
    expect(await stored(FINISHED, 'fin-on-good')).to.equal(0);
  });

  it('a handler of every finished run is not triggered by its own end', async () => {
    host.on('all', () => ({}));
    host.on('f', () => ({}));
    await host.register(
      service,
      [
        { id: 'all', triggers: [{ event: 'inngest/*' }] },
        { id: 'f', triggers: [{ event: 'loop/f' }] },
      ],
      { appName: 'loop' },
    );
    await runOf(await send('loop/f'));
    const { body } = await host.nextCall('all');
    expect(body.event.data.function_id).to.equal('loop-f');
    await runOf(body.event.id);
    await runOf(await send('loop/f'));
    await host.nextCall('all');
    expect(host.calls('all').map((call) => call.body.event.data.function_id)).to.deep.equal(['loop-f', 'loop-f']);
    await service.request('DELETE', '/v1/apps/loop');
  });

  it('a run that is cancelled by the API or by an event triggers the functions that listen', async () => {
    host.on('f', () => ({ status: 206, body: [{ id: step('s'), op: 'Sleep', name: '1h' }] }));
    await host.register(
      service,
      [
        { id: 'f', triggers: [{ event: 'cnc/f' }], cancel: [{ event: 'cnc/stop' }] },
        { id: 'on', triggers: [{ event: CANCELLED, expression: "event.data.function_id == 'cnc-f'" }] },
      ],
      { appName: 'cnc' },
    );
    const isAsleep = (run: { status: string }) => run.status === 'Running';
    const first = await runOf(await send('cnc/f'), isAsleep);
    await service.request('DELETE', `/v1/runs/${first.run_id}`);
    const { data } = (await host.nextCall('on')).body.event;
    expect(data).to.deep.include({
      function_id: 'cnc-f',
      run_id: first.run_id,
      error: { error: 'function cancelled', name: 'Error', message: 'function cancelled' },
      _inngest: { status: 'Cancelled' },
    });
    await service.request('DELETE', `/v1/runs/${first.run_id}`);
    const second = await runOf(await send('cnc/f'), isAsleep);
    await send('cnc/stop');
    expect((await host.nextCall('on')).body.event.data.run_id).to.equal(second.run_id);
    expect(await stored(CANCELLED, 'cnc-f')).to.equal(2);
  });

  it('a run that pauses triggers the functions that listen once for each pause, but not a function that listens and pauses', async () => {
    let isMended = false;
    const fails = { status: 500, body: { name: 'Expired', message: 'the key has expired' } };
    host.on('f', () => (isMended ? { body: 'done' } : fails));
    host.on('on', () => fails);
    const pauses = { retries: 0, onExhausted: 'pause' } as const;
    await host.register(
      service,
      [
        { id: 'f', ...pauses, triggers: [{ event: 'pau/f' }] },
        { id: 'other', ...pauses, triggers: [{ event: 'pau/other' }] },
        { id: 'on', ...pauses, triggers: [{ event: PAUSED, expression: "event.data.function_id != 'pau-other'" }] },
      ],
      { appName: 'pau' },
    );
    host.on('other', () => fails);
    const isPaused = (run: { state: { kind: string } }) => run.state.kind === 'paused';
    await runOf(await send('pau/other'), isPaused);
    const eventId = await send('pau/f');
    const { run_id } = await runOf(eventId, isPaused);
    const { event } = (await host.nextCall('on')).body;
    const { state } = (await service.get(`/v1/runs/${run_id}`)).body.data;
    expect(event.data).to.deep.equal({
      function_id: 'pau-f',
      run_id,
      event: event.data.event,
      events: [event.data.event],
      error: { error: 'Expired: the key has expired', name: 'Expired', message: 'the key has expired' },
      reason: 'exhausted',
      step: null,
      paused_at: state.since,
      _inngest: { status: 'Paused' },
    });
    expect(event.data.event).to.include({ name: 'pau/f', id: eventId });
    await runOf(event.id, isPaused);
    await service.post(`/v1/runs/${run_id}/resume`, {});
    expect((await host.nextCall('on')).body.event.data)
      .to.include({ run_id })
      .and.not.include({ paused_at: state.since });
    isMended = true;
    await runOf(eventId, isPaused);
    await service.post(`/v1/runs/${run_id}/resume`, {});
    await runOf(eventId);
    expect([await stored(PAUSED, 'pau-f'), host.calls('on').length]).to.deep.equal([2, 2]);
    expect([await stored(PAUSED, 'pau-other'), await stored(PAUSED, 'pau-on')]).to.deep.equal([0, 0]);
  });

  it('a run may wait for the end of another', async () => {
    host.on('waits', ({ number, body }) => {
      if (number > 0) return { body: body.steps[step('w')].data.result };
      const opts = { event: FINISHED, if: "async.data.function_id == 'awt-f'", timeout: '1m' };
      return { status: 206, body: [{ id: step('w'), op: 'WaitForEvent', name: 'w', opts }] };
    });
    host.on('f', () => ({ body: 'over' }));
    await host.register(
      service,
      [
        { id: 'waits', triggers: [{ event: 'awt/waits' }] },
        { id: 'f', triggers: [{ event: 'awt/f' }] },
      ],
      { appName: 'awt' },
    );
    const waiting = await send('awt/waits');
    const { run_id } = await runOf(waiting, () => true);
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
      body.data.history.some(({ status }: { status: string }) => status === 'Waiting'),
    );
    await send('awt/f');
    expect(await runOf(waiting)).to.include({ status: 'Completed', output: 'over' });
  });

  it('an invocation triggers functions that listen to it by an expression, but not functions that can only be invoked', async () => {
    host.on('f', ({ number, body }) => {
      if (number > 0) return { body: body.steps };
      const opts = { function_id: 'inv-g', payload: { data: { n: 1 } } };
      return { status: 206, body: [{ id: step('i'), op: 'InvokeFunction', name: 'i', opts }] };
    });
    await host.register(
      service,
      [
        { id: 'f', triggers: [{ event: 'inv/f' }] },
        { id: 'g', triggers: [{ event: INVOKED }] },
        { id: 'only-invoked', triggers: [{ event: INVOKED }] },
        { id: 'on', triggers: [{ event: INVOKED, expression: "event.data._inngest.fn_id == 'inv-g'" }] },
        { id: 'end', triggers: [{ event: FINISHED, expression: "event.data.function_id == 'inv-g'" }] },
      ],
      { appName: 'inv' },
    );
    const { run_id } = await runOf(await send('inv/f'));
    expect((await host.nextCall('on')).body.event.data.n).to.equal(1);
    const { data } = (await host.nextCall('end')).body.event;
    expect(data.correlation_id).to.equal(`${run_id}.${step('i')}`);
    expect(host.calls('g')).to.have.length(1);
    expect(host.calls('only-invoked')).to.have.length(0);
  });
});
