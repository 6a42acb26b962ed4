import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** One call of `busy` is all that a worker takes at once, so that runs stay queued. */
class BusyApp {
  readonly host: AppHost;
  readonly service: Service;
  #responders: (() => void)[] = [];

  constructor(host: AppHost, service: Service) {
    this.host = host;
    this.service = service;
    host.on('busy', () => new Promise((resolve) => this.#responders.push(() => resolve({ body: null }))));
  }

  async register(id: string, options: object = {}): Promise<void> {
    const functions = [
      { id: 'busy', triggers: [{ event: `${id}/busy` }] },
      { id, triggers: [{ event: `${id}/x` }], ...options },
    ];
    await this.host.register(this.service, functions, { appName: id });
  }

  /** Occupies all workers. */
  async occupy(id: string, workers = 1): Promise<void> {
    const before = this.host.calls('busy').length;
    const events = Array.from({ length: workers }, () => ({ name: `${id}/busy`, data: {} }));
    await this.service.post('/e/key', events);
    await until(() => this.host.calls('busy').length >= before + workers, { describe: 'the workers are busy' });
  }

  /** From here on nothing is busy. */
  end(): void {
    this.host.on('busy', () => ({ body: null }));
    this.free();
  }

  free(): void {
    for (const respond of this.#responders.splice(0)) respond();
  }

  /** @returns IDs of the runs, queued */
  async queue(id: string, count: number): Promise<string[]> {
    for (let n = 0; n < count; n++) await this.service.post('/e/key', { name: `${id}/x`, data: { n } });
    return until(async () => (await this.queued(id, count)) ?? false, { describe: `${count} runs are queued` });
  }

  async queued(id: string, count: number): Promise<string[] | undefined> {
    const { body } = await this.service.get(`/v1/runs?function_id=${id}-${id}&status=Queued&limit=100`);
    const ids = body.data.map(({ run_id }: { run_id: string }) => run_id);
    return ids.length === count ? ids : undefined;
  }

  pause(id: string, body?: object) {
    const path = `/v1/functions/${id}-${id}/pause`;
    return body ? this.service.post(path, body) : this.service.post(path);
  }
}

/** Jobs that a worker takes as it adds them (workers/added-jobs.ts). */
const STARTED_TOGETHER = 16;

describe('Pausing a function', () => {
  let service: Service;
  let app: BusyApp;
  before(async () => {
    service = await startService({ env: { RUN_CONCURRENCY: '1' } });
    app = new BusyApp(await startAppHost(), service);
  });
  after(async () => {
    app.free();
    await app.host.close();
    await service.stop();
  });
  afterEach(() => app.free());

  it('lets its queued runs continue by default', async () => {
    await app.register('goes-on');
    await app.occupy('goes-on');
    const [runId] = await app.queue('goes-on', 1);
    const { status, body } = await app.pause('goes-on');
    expect([status, body.data.queued_runs]).to.deep.equal([200, 'run']);
    app.free();
    await service.waitFor(`/v1/runs/${runId}`, (response) => response.body.data.status === 'Completed');
  });

  it('cancels its queued runs on request, but not runs that have started', async () => {
    await app.register('cancelled');
    app.host.on('cancelled', ({ body }) =>
      body.ctx.stack.stack.length > 0
        ? { body: 'ok' }
        : { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', opts: { duration: '5s' } }] },
    );
    const [eventId] = (await service.post('/e/key', { name: 'cancelled/x', data: {} })).body.ids;
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      (response) => response.body.data?.[0]?.run_started_at,
    );
    const started = body.data[0].run_id;
    await app.occupy('cancelled');
    const queued = await app.queue('cancelled', 5);
    await app.pause('cancelled', { queued_runs: 'cancel' });
    const { body: list } = await service.waitFor('/v1/cancellations', (response) =>
      response.body.data.some((item: { cancelled_runs: number }) => item.cancelled_runs === 5),
    );
    expect(list.data[0]).to.include({ function_id: 'cancelled-cancelled', queued_only: true });
    for (const id of queued) {
      const run = (await service.get(`/v1/runs/${id}`)).body.data;
      expect(run).to.deep.include({
        status: 'Cancelled',
        cancel_reason: { cause: 'pause', id: list.data[0].id, by: null },
      });
    }
    app.free();
    await service.waitFor(`/v1/runs/${started}`, (response) => response.body.data.status === 'Completed');
    const called = app.host.calls('cancelled').map(({ body: call }) => call.ctx.run_id);
    expect(new Set(called)).to.deep.equal(new Set([started]));
  });

  it('holds its queued runs on request, and starts them in order after it is resumed', async () => {
    await app.register('held');
    await app.occupy('held');
    const queued = await app.queue('held', 30);
    await app.pause('held', { queued_runs: 'hold' });
    const invoked = await service.post('/v1/functions/held-held/invoke', { data: { n: 30 } });
    app.free();
    await app.register('other');
    const [other] = (await service.post('/e/key', { name: 'other/x', data: {} })).body.ids;
    await service.waitFor(`/v1/events/${other}/runs`, (response) => response.body.data?.[0]?.status === 'Completed');
    expect(app.host.calls('held')).to.have.length(0);
    expect(await app.queued('held', 31)).to.include.members([...queued, invoked.body.data.run_id]);
    await service.post('/v1/functions/held-held/resume');
    await until(() => app.host.calls('held').length === 31, { describe: 'all runs start' });
    const runs = await Promise.all(
      app.host.calls('held').map(async ({ body }) => {
        const { data } = (await service.get(`/v1/runs/${body.ctx.run_id}`)).body;
        return { n: body.event.data.n, startedAt: Date.parse(data.run_started_at) };
      }),
    );
    runs.sort((a, b) => a.n - b.n);
    expect(runs.map(({ n }) => n)).to.deep.equal(Array.from({ length: 31 }, (_, n) => n));
    // A worker starts several at a time.
    const starts = runs.map(({ startedAt }) => startedAt);
    const late = starts.slice(STARTED_TOGETHER).filter((startedAt, n) => startedAt < (starts[n] as number));
    expect(late, starts.join()).to.deep.equal([]);
  });

  it('starts none of the runs that wait for a concurrency limit after the response to a pause that holds them', async () => {
    const RUNS = 1_000;
    await app.register('limited', { concurrency: { limit: 5 } });
    const started = () => app.host.calls('limited').length;
    await service.post(
      '/e/key',
      Array.from({ length: RUNS }, (_, n) => ({ name: 'limited/x', data: { n } })),
    );
    await until(() => started() >= 20, { describe: 'some have started' });
    await app.pause('limited', { queued_runs: 'hold' });
    const before = started();
    expect(before).to.be.below(RUNS);
    const checks = `${service.prefix}:admission-checks`;
    const isAdapted = async () => (await service.redis.zscore(checks, '~~production limited-limited')) === null;
    await until(isAdapted, { describe: 'the backlog has its new limits' });
    expect(started()).to.equal(before);
    await service.post('/v1/functions/limited-limited/resume');
    await until(() => started() === RUNS, { describe: 'all runs start', timeoutMs: 60_000 });
  });

  it('continues or cancels held runs when it is paused again with another choice', async () => {
    await app.register('again');
    await app.occupy('again');
    const [first = ''] = await app.queue('again', 1);
    await app.pause('again', { queued_runs: 'hold' });
    app.free();
    await app.pause('again', { queued_runs: 'run' });
    await service.waitFor(`/v1/runs/${first}`, (response) => response.body.data.status === 'Completed');
    await app.pause('again', { queued_runs: 'hold' });
    const { body } = await service.post('/v1/functions/again-again/invoke', { data: {} });
    const path = `/v1/runs/${body.data.run_id}`;
    await app.pause('again', { queued_runs: 'cancel' });
    const run = await service.waitFor(path, (response) => response.body.data?.status === 'Cancelled');
    expect(run.body.data.cancel_reason.cause).to.equal('pause');
    await service.post('/v1/functions/again-again/resume');
  });

  it('says what happens to its queued runs, and rejects an unknown choice by name', async () => {
    await app.register('chosen');
    const shown = async () => (await service.get('/v1/functions/chosen-chosen')).body.data.queued_runs;
    expect(await shown()).to.equal(null);
    expect((await app.pause('chosen', { queued_runs: 'hold' })).body.data.queued_runs).to.equal('hold');
    expect((await app.pause('chosen')).body.data.queued_runs).to.equal('hold');
    const { paused_at } = (await service.get('/v1/functions/chosen-chosen')).body.data;
    expect((await app.pause('chosen', { queued_runs: 'run' })).body.data).to.include({ queued_runs: 'run', paused_at });
    const wrong = await app.pause('chosen', { queued_runs: 'drop' });
    expect([wrong.status, wrong.body.code, wrong.body.field]).to.deep.equal([400, 'input_invalid', 'queued_runs']);
    const unknown = await app.pause('chosen', { queued: 'run' });
    expect([unknown.status, unknown.body.field]).to.deep.equal([400, 'queued']);
    await service.post('/v1/functions/chosen-chosen/resume');
    expect(await shown()).to.equal(null);
  });
});

describe('Pausing a function when processes die', () => {
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  it('starts all held runs once after it is resumed, even if one of two workers is killed', async () => {
    // Long enough for a worker on a busy machine to keep its locks: calls of a live one are not repeated.
    const service = await startService({
      processes: 'worker',
      workers: 2,
      env: { STALLED_AFTER_SECONDS: '3', RUN_CONCURRENCY: '1' },
    });
    const app = new BusyApp(host, service);
    try {
      const RUNS = 100;
      await app.register('held');
      await app.occupy('held', 2);
      const events = Array.from({ length: RUNS }, (_, n) => ({ name: 'held/x', data: { n } }));
      await service.post('/e/key', events);
      const index = service.keys.all()[0]?.runIndex('production', 'active', 'held-held') ?? '';
      const active = (count: number) => async () => (await service.redis.zcard(index)) === count;
      await until(active(RUNS), { describe: 'the runs are queued' });
      await app.pause('held', { queued_runs: 'hold' });
      app.end();
      await service.killWorker(0);
      await service.startWorker();
      const waiting = async () =>
        (await service.redis.zcard(`${service.prefix}:queue:runs:delayed`)) >= RUNS &&
        (await service.redis.llen(`${service.prefix}:queue:runs:active`)) === 0;
      await until(waiting, { describe: 'the workers have put all jobs aside' });
      expect(host.calls('held')).to.have.length(0);
      const before = host.calls().length;
      await service.post('/v1/functions/held-held/resume');
      await until(() => host.calls('held').length > 20, { describe: 'the runs start' });
      await service.killWorker(1);
      await until(active(0), { describe: 'all runs have ended', timeoutMs: 100_000 });
      const ids = host.calls('held').map(({ body }) => body.ctx.run_id);
      expect(new Set(ids).size).to.equal(RUNS);
      // Only calls in flight when the worker was killed may be repeated.
      expect(ids.length - RUNS).to.be.at.most(2);
      expect(host.calls().length).to.be.greaterThan(before);
    } finally {
      app.end();
      await service.stop();
    }
  });
});
