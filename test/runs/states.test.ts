import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { FunctionTables } from '../../src/jobs/functions/function-tables.ts';
import { PartitionQueues, type QueueSet } from '../../src/jobs/queues/partition-queues.ts';
import { createRunQueue } from '../../src/jobs/queues/queues.ts';
import { RunStates } from '../../src/jobs/runs/run-states.ts';
import { DelayedJobs } from '../../src/jobs/runs/scheduling/delayed-jobs.ts';
import { LimitUsage } from '../../src/store/flow-control/limit-usage.ts';
import type { Redis } from '../../src/store/redis/connection/connection.ts';
import { Steps } from '../../src/store/runs/steps.ts';
import { type AppHost, type FunctionSpec, type Handler, startAppHost } from '../support/app-host.ts';
import { type HeldRequests, holdRequests } from '../support/held-requests.ts';
import { openStore } from '../support/own-store.ts';
import { itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';

const DAY_MS = 86_400_000;
const IN_FLIGHT = new Promise<never>(() => {});
const FAILURE = { status: 500, body: { name: 'Error', message: 'down' } };
const idOf = (name: string) => createHash('sha1').update(name).digest('hex');
const op = (kind: string, displayName: string, opts: object = {}) => ({
  id: idOf(displayName),
  op: kind,
  displayName,
  opts,
});
const asks =
  (...body: object[]): Handler =>
  () => ({ status: 206, body });

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Run = any;

describe('The state of a run', () => {
  let service: Service;
  let host: AppHost;
  let outside: HeldRequests;
  before(async () => {
    // The tests do not wait for retries.
    service = await startService({ env: { RETRY_SCALE: '100' } });
    host = await startAppHost();
    outside = await holdRequests();
  });
  after(async () => {
    await host.close();
    await outside.close();
    await service.stop();
  });

  let count = 0;
  /** Registers a function in an app of its own. */
  async function on(handler: Handler, options: Partial<FunctionSpec> = {}): Promise<string> {
    const id = `f${count++}`;
    host.on(id, handler);
    await host.register(service, [{ id, triggers: [{ event: `states/${id}` }], ...options }], {
      appName: `states${id}`,
    });
    return id;
  }
  async function start(id: string, event: object = {}): Promise<string> {
    const { body } = await service.post('/e/key', { name: `states/${id}`, data: {}, ...event });
    const runs = await service.waitFor(
      `/v1/events/${body.ids[0]}/runs`,
      (response) => response.body.data?.length === 1,
    );
    return runs.body.data[0].run_id;
  }
  /** The state once it is of this kind; the run and every list of it agree. */
  async function stateOf(runId: string, kind: string, others?: number): Promise<Run> {
    const { body } = await service.waitFor(`/v1/runs/${runId}`, ({ body: { data } }) => {
      return data?.state?.kind === kind && (others === undefined || data.state.others === others);
    });
    const { state, event_id } = body.data;
    const ofEvent = await service.get(`/v1/events/${event_id}/runs`);
    expect(ofEvent.body.data[0].state).to.deep.equal(state);
    const listed = await service.get(`/v1/runs?state=${kind}&limit=100`);
    const found = listed.body.data.find((run: Run) => run.run_id === runId);
    expect(found?.state, 'in the list of this state').to.deep.equal(state);
    return state;
  }
  const inDays = (time: string) => (Date.parse(time) - Date.now()) / DAY_MS;

  it('is queued, until the time of a future event', async () => {
    const ts = Date.now() + DAY_MS;
    const state = await stateOf(await start(await on(() => IN_FLIGHT), { ts }), 'queued');
    expect(Object.keys(state)).to.deep.equal(['kind', 'until']);
    expect(Date.parse(state.until) - ts, 'the delay of its job begins a moment later').to.be.within(0, 5_000);
  });

  it('is running while it is called, and then completed or failed', async () => {
    let end: (response: object) => void = () => {};
    const response = new Promise<object>((resolve) => {
      end = resolve;
    });
    const id = await on(() => response);
    const runId = await start(id);
    await host.nextCall(id);
    expect(await stateOf(runId, 'running')).to.deep.equal({ kind: 'running' });
    end({ body: 'done' });
    expect(await stateOf(runId, 'completed')).to.deep.equal({ kind: 'completed' });
    const failing = await on(() => ({ ...FAILURE, headers: { 'x-service-no-retry': 'true' } }));
    expect(await stateOf(await start(failing), 'failed')).to.deep.equal({ kind: 'failed' });
  });

  it('is held by a limit, at a position in the backlog', async () => {
    const id = await on(() => IN_FLIGHT, { concurrency: [{ limit: 1, key: 'event.data.customer' }] });
    await start(id, { data: { customer: 'c_1' } });
    await host.nextCall(id);
    const second = await start(id, { data: { customer: 'c_1' } });
    await stateOf(second, 'held');
    const third = await start(id, { data: { customer: 'c_1' } });
    expect(await stateOf(third, 'held')).to.deep.equal({
      kind: 'held',
      position: 2,
      limit: { kind: 'concurrency', scope: 'fn', key: 'c_1', key_expression: 'event.data.customer', limit: 1 },
    });
  });

  it('is held by the pause of its function', async () => {
    const id = await on(() => IN_FLIGHT);
    await service.post(`/v1/functions/states${id}-${id}/pause`, { queued_runs: 'hold' });
    const { body } = await service.post(`/v1/functions/states${id}-${id}/invoke`, { data: {} });
    const state = await stateOf(body.data.run_id, 'held');
    expect(state.limit).to.include({ kind: 'paused' });
    expect(state.position).to.equal(1);
  });

  it('is retrying, with the number and the time of the next attempt', async () => {
    const runId = await start(await on(() => FAILURE, { retries: 3 }));
    const state = await stateOf(runId, 'retrying');
    expect(state).to.include({ attempt: 2, max_attempts: 4 });
    const run = (await service.get(`/v1/runs/${runId}`)).body.data;
    expect(state.until).to.equal(run.next_try_at);
  });

  it('is retrying a step, which it names', async () => {
    const charge = op('StepPlanned', 'charge');
    const id = await on(({ stepId }) => (stepId === charge.id ? FAILURE : { status: 206, body: [charge] }));
    expect(await stateOf(await start(id), 'retrying')).to.deep.include({
      attempt: 2,
      step: { id: charge.id, name: 'charge' },
    });
  });

  it('is sleeping until a time', async () => {
    const state = await stateOf(await start(await on(asks(op('Sleep', 'a day', { duration: '1d' })))), 'sleeping');
    expect(state.step).to.deep.equal({ id: idOf('a day'), name: 'a day' });
    expect(inDays(state.until)).to.be.within(0.99, 1);
  });

  it('is waiting for an event or a signal, by name, until its timeout', async () => {
    const approval = op('WaitForEvent', 'approval', { event: 'refund/approved', timeout: '2d' });
    const forEvent = await stateOf(await start(await on(asks(approval))), 'waiting_for_event');
    expect(forEvent).to.deep.include({ name: 'refund/approved', step: { id: approval.id, name: 'approval' } });
    expect(inDays(forEvent.until)).to.be.within(1.99, 2);
    const signal = op('WaitForSignal', 'go', { signal: 'release/1' });
    const forSignal = await stateOf(await start(await on(asks(signal))), 'waiting_for_signal');
    expect(forSignal).to.deep.equal({
      kind: 'waiting_for_signal',
      name: 'release/1',
      step: { id: signal.id, name: 'go' },
    });
  });

  it('is invoking a function, and names its run', async () => {
    const inner = await on(() => IN_FLIGHT);
    const function_id = `states${inner}-${inner}`;
    const outer = await on(asks(op('InvokeFunction', 'resize', { function_id, payload: {} })));
    const state = await stateOf(await start(outer), 'invoking');
    expect(state).to.deep.include({ function_id, step: { id: idOf('resize'), name: 'resize' } });
    expect((await service.get(`/v1/runs/${state.run_id}`)).body.data.function_id).to.equal(function_id);
  });

  it('is requesting, while the service makes the request of a step', async () => {
    const fetches = op('Gateway', 'ask', { url: outside.url });
    const runId = await start(await on(asks(fetches)));
    await outside.waiting(1);
    const state = await stateOf(runId, 'requesting');
    expect(state).to.deep.equal({ kind: 'requesting', step: { id: fetches.id, name: 'ask' } });
  });

  it('names the wait that ends first, and counts the others', async () => {
    const id = await on(
      asks(
        op('Sleep', 'long', { duration: '3d' }),
        op('WaitForEvent', 'short', { event: 'x/y', timeout: '1d' }),
        op('WaitForSignal', 'endless', { signal: 'z' }),
      ),
    );
    // The wait for the signal counts once a signal can end it.
    const state = await stateOf(await start(id), 'waiting_for_event', 2);
    expect(state).to.deep.include({ name: 'x/y', others: 2 });
  });

  it('is cancelled when the run is', async () => {
    const runId = await start(await on(asks(op('Sleep', 'a day', { duration: '1d' }))));
    await stateOf(runId, 'sleeping');
    await service.request('DELETE', `/v1/runs/${runId}`);
    expect(await stateOf(runId, 'cancelled')).to.deep.equal({ kind: 'cancelled' });
  });

  it('filters lists by several states, together with a status, page by page', async () => {
    const naps = await on(asks(op('Sleep', 'nap', { duration: '1d' })));
    const fails = await on(() => FAILURE);
    const asleep: string[] = [];
    for (let n = 0; n < 3; n++) {
      asleep.unshift(await start(naps));
      await stateOf(asleep[0] as string, 'sleeping');
      await stateOf(await start(fails), 'retrying');
    }
    const list = async (query: string) => (await service.get(`/v1/runs?queued_after=${since}&${query}`)).body;
    const since = (await service.get(`/v1/runs/${asleep[2]}`)).body.data.queued_at;
    const ids = (body: Run) => body.data.map(({ run_id }: Run) => run_id);
    expect(ids(await list('state=sleeping'))).to.deep.equal(asleep);
    expect((await list('state=sleeping,retrying')).data).to.have.length(6);
    expect((await list('state=sleeping&status=Queued')).data).to.deep.equal([]);
    expect((await list('state=failed&status=Running')).data).to.deep.equal([]);
    const first = await list('state=sleeping&limit=2');
    expect(ids(first)).to.deep.equal(asleep.slice(0, 2));
    const second = await list(`state=sleeping&limit=2&cursor=${first.metadata.cursor}`);
    expect(ids(second)).to.deep.equal(asleep.slice(2));
    const bySearch = await list(`state=sleeping&function_id=${encodeURIComponent(`states${naps}*`)}`);
    expect(ids(bySearch)).to.deep.equal(asleep);
    const { status, body } = await service.get('/v1/runs?state=asleep');
    expect([status, body.error]).to.deep.equal([400, body.error]);
    expect(body.error).to.include('waiting_for_event');
  });

  itOnSingleRedis('takes the same few round trips to Redis for any number of runs', async () => {
    const store = await openStore(service.prefix);
    const limited = await on(() => IN_FLIGHT, { concurrency: 1 });
    const naps = await on(asks(op('Sleep', 'nap', { duration: '1d' }), op('WaitForEvent', 'z', { event: 'z' })));
    const fails = await on(() => FAILURE);
    const ids: string[] = [];
    for (const fn of [limited, naps, fails]) for (let n = 0; n < 4; n++) ids.push(await start(fn));
    await stateOf(ids[3] as string, 'held');
    await stateOf(ids.at(-1) as string, 'retrying');
    const trips: string[] = [];
    const redis = new Proxy(store.redis as Redis, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          trips.push(String(name));
          return (value as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    const queues = new PartitionQueues(store.keys, ({ prefix }) => {
      return { runs: createRunQueue({ connection: store.redis as never, prefix, skipVersionCheck: true }) } as QueueSet;
    });
    const functions = new FunctionTables({ functions: store.functions, versions: store.appVersions });
    const states = new RunStates({
      steps: new Steps(redis as never, store.keys, { retentionMs: 0, offloadedRuns: store.offloadedRuns }),
      ids: store.ids,
      limitUsage: new LimitUsage(redis as never, store.keys),
      functions,
      environmentKinds: store.environmentKinds,
      delayedJobs: new DelayedJobs({ redis, queues }),
      capacity: () => 100,
    });
    try {
      const runs = await store.runs.readMany('production', ids);
      const kinds = [...(await states.of(runs)).values()].map(({ kind }) => kind);
      expect(new Set(kinds)).to.deep.equal(new Set(['running', 'held', 'sleeping', 'retrying']));
      const ofAll = trips.length;
      expect(
        trips.every((name) => name === 'pipeline'),
        trips.join(),
      ).to.equal(true);
      trips.length = 0;
      await states.of([...runs, ...runs, ...runs]);
      expect([trips.length, ofAll]).to.deep.equal([ofAll, 4]);
    } finally {
      await Promise.all(queues.all().map(({ runs }) => runs.disconnect().catch(() => {})));
      store.redis.disconnect();
    }
  });
});
