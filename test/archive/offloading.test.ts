import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { findKeys } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ENV = 'production';
const hashed = (name: string) => createHash('sha1').update(name).digest('hex');
const FIRST = { id: hashed('first'), op: 'StepRun', name: 'first', displayName: 'first', data: { n: 1 } };
const nap = (duration: string) => {
  return { id: hashed('nap'), op: 'Sleep', name: duration, displayName: 'nap', opts: { duration } };
};
/** The second step of each function. */
const SECOND: Record<string, ReturnType<typeof nap> & { opts: object }> = {
  sleeps: nap('30d'),
  stops: nap('30d'),
  wakes: nap('90s'),
  waits: {
    ...{ id: hashed('answer'), op: 'WaitForEvent', name: 'long/answer', displayName: 'answer' },
    opts: { event: 'long/answer', timeout: '30d', if: 'async.data.key == event.data.key' } as never,
  },
};

describe('A run that sleeps or waits for longer than HOT_HOURS', () => {
  let service: Service;
  let host: AppHost;
  let proxy: PostgresProxy;
  /** A run that wakes up while the others are tested. */
  let waking: string;

  before(async function () {
    this.timeout(60_000);
    proxy = await PostgresProxy.start();
    const env = { STALLED_AFTER_SECONDS: '1', HOT_HOURS: '0.001', DATABASE_URL: proxy.url };
    service = await startService({ archive: true, env });
    host = await startAppHost();
    for (const [id, op] of Object.entries(SECOND)) host.on(id, (call) => twoSteps(call, op));
    const functions = Object.keys(SECOND).map((id) => ({
      id,
      triggers: [{ event: `long/${id}` }],
      ...(id === 'stops' && { cancel: [{ event: 'long/stop', if: 'async.data.key == event.data.key' }] }),
    }));
    await host.register(service, functions, { appName: 'long' });
    waking = (await offloaded('wakes')).runId;
  });
  after(async () => {
    await host?.close();
    await service?.stop();
    await proxy?.stop();
  });

  function twoSteps({ body: { steps } }: Call, op: { id: string }) {
    const next = [FIRST, op].find(({ id }) => steps[id] === undefined);
    return next ? { status: 206, body: [next] } : { body: [steps[FIRST.id].data, steps[op.id]?.data?.answer ?? null] };
  }

  const runKey = (runId: string) => service.keys.of(runId).run(ENV, runId);
  const alarms = (runId: string) => service.keys.of(runId).offloadedRuns(ENV);
  const isOffloaded = async (runId: string) => (await service.redis.hexists(alarms(runId), runId)) === 1;
  const data = async (path: string) => (await service.get(path)).body.data;
  const ended = async (runId: string) =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.ended_at)).body.data;

  /** @returns a run once it is offloaded, and what it looked like before */
  async function offloaded(id: string, key = 'k') {
    const { body } = await service.post('/e/key', { name: `long/${id}`, data: { key } });
    const [eventId] = body.ids as [string];
    const path = `/v1/events/${eventId}/runs`;
    const runId: string = (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
    const isAsleep = (kind: string) => kind === 'sleeping' || kind === 'waiting_for_event';
    const { body: seen } = await service.waitFor(`/v1/runs/${runId}`, ({ body }) => isAsleep(body.data.state.kind));
    const lists = await listed(runId, eventId);
    await until(() => isOffloaded(runId), { describe: 'the run is offloaded', timeoutMs: 40_000 });
    return { runId, eventId, before: { detail: seen.data, lists } };
  }

  async function listed(runId: string, eventId: string) {
    const paths = [
      '/v1/runs?state=sleeping,waiting_for_event',
      '/v1/runs?status=running',
      `/v1/runs?search=${encodeURIComponent('status == "Running" && event.data.key == "k"')}`,
      '/v1/runs?function_id=long-sleeps&fields=event',
      `/v1/events/${eventId}/runs`,
    ];
    const all = await Promise.all(paths.map((path) => service.get(path)));
    const { body: counted } = await service.get('/v1/runs/count?function_id=long-sleeps');
    const lists = all.map(({ status, body }) => [
      status,
      (body.data ?? []).filter(({ run_id }: { run_id: string }) => run_id === runId),
    ]);
    return { counted: counted.data, lists };
  }

  it('has nothing but an alarm in Redis, and looks as before', async function () {
    this.timeout(120_000);
    const { runId, eventId, before } = await offloaded('sleeps');
    await until(
      async () => (await findKeys(service.redis, service.prefix, new RegExp(`${runId}|${eventId}`))).length === 0,
      {
        describe: 'its event is archived',
      },
    );
    expect(await listed(runId, eventId)).to.deep.equal(before.lists);
    expect(before.lists.lists.map(([, runs]) => runs.length)).to.deep.equal([1, 1, 1, 1, 1]);
    expect(before.lists.counted).to.include({ count: 1 });
    expect(await data(`/v1/runs/${runId}`)).to.deep.equal(before.detail);
    const looked = await service.post('/v1/runs/lookup', { ids: [runId] });
    expect(looked.body.data).to.deep.equal([{ id: runId, found: true }]);
    expect((await data(`/v1/runs/${runId}/steps/${FIRST.id}`)).data).to.deep.equal({ n: 1 });
    expect((await service.get(`/v1/runs/${runId}/steps/constructor`)).status).to.equal(404);
    expect(await isOffloaded(runId)).to.equal(true);
  });

  it('is cancelled by a person, an event and a bulk cancellation', async function () {
    this.timeout(120_000);
    const [byPerson, byEvent] = [await offloaded('sleeps'), await offloaded('stops', 'one')];
    expect((await service.request('DELETE', `/v1/runs/${byPerson.runId}`)).status).to.equal(200);
    expect((await ended(byPerson.runId)).status).to.equal('Cancelled');
    await service.post('/e/key', { name: 'long/stop', data: { key: 'one' } });
    const { status, history } = await ended(byEvent.runId);
    expect([status, history.at(-1).status]).to.deep.equal(['Cancelled', 'Cancelled']);
    const inBulk = await offloaded('sleeps', 'bulk');
    const { body } = await service.post('/v1/cancellations', {
      app_id: 'long',
      function_id: 'sleeps',
      started_before: new Date().toISOString(),
      if: 'event.data.key == "bulk"',
    });
    expect(body.data).to.have.property('id');
    expect((await ended(inBulk.runId)).status).to.equal('Cancelled');
  });

  it('continues with the results of its steps when the event comes', async function () {
    this.timeout(120_000);
    const { runId } = await offloaded('waits', 'answered');
    await service.post('/e/key', { name: 'long/answer', data: { key: 'answered', answer: 42 } });
    const { status, output } = await ended(runId);
    expect([status, output]).to.deep.equal(['Completed', [{ n: 1 }, 42]]);
  });

  it('is compared by a what-if where it is', async function () {
    this.timeout(120_000);
    const { runId } = await offloaded('sleeps');
    const candidate = await startAppHost();
    try {
      candidate.registration([{ id: 'sleeps', triggers: [] }], { appName: 'long' });
      const planned = { ...FIRST, op: 'StepPlanned', data: undefined };
      candidate.on('sleeps', (call) =>
        call.body.steps[FIRST.id] ? twoSteps(call, nap('30d')) : { status: 206, body: [planned] },
      );
      const { body } = await service.post('/v1/what-ifs', { url: candidate.url });
      const path = `/v1/what-ifs/${body.data.id}`;
      const found = (await service.waitFor(path, ({ body: now }) => now.data?.status === 'done', 60_000)).body.data;
      const { active } = found.functions.find((fn: { id: string }) => fn.id === 'long-sleeps');
      expect(active, JSON.stringify(found)).to.deep.include({ changed: 0, broken: 0, skipped: 0 });
      expect(active.unchanged).to.be.above(0);
      expect(await isOffloaded(runId)).to.equal(true);
    } finally {
      await candidate.close();
    }
  });

  it('returns once Postgres is back, if that is away when it is due', async function () {
    this.timeout(120_000);
    const { runId, eventId } = await offloaded('sleeps');
    proxy.leave();
    const { body } = await service.get(`/v1/runs?status=running`);
    expect(body.data.map(({ run_id }: { run_id: string }) => run_id)).not.to.include(runId);
    const alarm = (await service.redis.hget(alarms(runId), runId)) as string;
    await service.redis.hset(alarms(runId), runId, Date.now().toString(16) + alarm.slice(-3));
    expect((await service.get(`/v1/runs/${runId}`)).status).to.equal(503);
    expect(await isOffloaded(runId)).to.equal(true);
    proxy.comeBack();
    await until(() => service.redis.exists(runKey(runId)), { describe: 'it is back', timeoutMs: 40_000 });
    expect((await data(`/v1/events/${eventId}/runs`)).length).to.equal(1);
  });

  it('wakes up by itself, and not before it is due', async function () {
    this.timeout(150_000);
    const { status, output, history } = (
      await service.waitFor(`/v1/runs/${waking}`, ({ body }) => body.data.ended_at, 120_000)
    ).body.data;
    expect([status, output]).to.deep.equal(['Completed', [{ n: 1 }, null]]);
    const slept = history.find(({ name }: { name?: string }) => name === 'nap');
    expect(Date.parse(slept.ended_at) - Date.parse(slept.started_at)).to.be.at.least(89_000);
  });
});
