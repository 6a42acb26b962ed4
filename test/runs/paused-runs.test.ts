import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Inngest } from 'inngest';
import { serve as serveOfficial } from 'inngest/node';
import { type AppHost, type Call, type FunctionSpec, type HostResponse, startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startApp } from './steps/sdk-adapters.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)] as [string, string];
const ERROR = { name: 'KeyExpired', message: 'the key of the provider has expired' };
const FAILURE: HostResponse = { status: 500, body: ERROR };
const asks = (...body: object[]): HostResponse => ({ status: 206, body });
const ran = (id: string, name: string) => asks({ op: 'StepRun', id, displayName: name, data: name });
const failed = (id: string, name: string) => asks({ op: 'StepError', id, displayName: name, error: ERROR });
const plan = (id: string, name: string) => ({ op: 'StepPlanned', id, displayName: name, name });

const QUIET = { info() {}, warn() {}, error() {}, debug() {} };

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

describe('A run of a function that pauses without an attempt left', () => {
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

  let count = 0;
  /** Registers a function in an app of its own, with one retry. */
  async function on(handler: (call: Call) => HostResponse, options: Partial<FunctionSpec> = {}): Promise<string> {
    const id = `f${count++}`;
    host.on(id, handler);
    const spec = { id, retries: 1, onExhausted: 'pause', triggers: [{ event: `paused/${id}` }], ...options };
    await host.register(service, [spec], { appName: `paused${id}` });
    return id;
  }
  const functionId = (id: string) => `paused${id}-${id}`;
  async function start(id: string, data: object = {}): Promise<string> {
    const { body } = await service.post('/e/key', { name: `paused/${id}`, data });
    const runs = await service.waitFor(
      `/v1/events/${body.ids[0]}/runs`,
      (response) => response.body.data?.length === 1,
    );
    return runs.body.data[0].run_id;
  }
  const inState = async (runId: string, kind: string): Promise<Loose> =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.state.kind === kind)).body.data;
  const ended = async (runId: string): Promise<Loose> =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at)).body.data;
  const resume = async (runId: string) => service.post(`/v1/runs/${runId}/resume`, {});

  it('waits with its error, and continues from the failed step when it is resumed', async () => {
    let isMended = false;
    const id = await on(({ body: { ctx } }) => {
      if (ctx.stack.stack.length === 0) return ran(A, 'reserve');
      if (ctx.stack.stack.length === 1) return isMended ? ran(B, 'charge') : failed(B, 'charge');
      return { body: 'charged' };
    });
    const runId = await start(id);
    const paused = await inState(runId, 'paused');
    expect(paused).to.deep.include({ status: 'Running', ended_at: null, next_try_at: null, waiting: null });
    expect(paused.error).to.include(ERROR);
    expect(paused.state).to.include({ kind: 'paused', reason: 'exhausted' });
    expect(paused.state.step).to.deep.equal({ id: B, name: 'charge' });
    expect(Date.parse(paused.state.since)).to.be.within(Date.parse(paused.queued_at), Date.now());
    expect(host.calls(id)).to.have.length(3);
    isMended = true;
    expect((await resume(runId)).status).to.equal(200);
    const completed = await ended(runId);
    expect(completed).to.include({ status: 'Completed', output: 'charged' });
    const tried = completed.history.filter((entry: Loose) => entry.kind === 'step');
    expect(tried.map(({ name, status }: Loose) => [name, status])).to.deep.equal([
      ['reserve', 'Completed'],
      ['charge', 'Failed'],
      ['charge', 'Failed'],
      ['charge', 'Completed'],
    ]);
    expect(host.calls(id)).to.have.length(5);
  });

  it('has all attempts anew when it is resumed, and pauses again without one left', async () => {
    const id = await on(() => FAILURE);
    const runId = await start(id);
    await inState(runId, 'paused');
    await resume(runId);
    await until(async () => host.calls(id).length === 4 && (await inState(runId, 'paused')), { describe: 'it pauses' });
    expect(host.calls(id).map(({ body }) => body.ctx.attempt)).to.deep.equal([0, 1, 0, 1]);
  });

  it('fails at once with an error that no retry would mend', async () => {
    const id = await on(() => ({ ...FAILURE, headers: { 'x-service-no-retry': 'true' } }));
    expect(await ended(await start(id))).to.include({ status: 'Failed' });
    const step = await on(({ body: { ctx } }) =>
      ctx.stack.stack.length === 0
        ? asks({ op: 'StepFailed', id: A, displayName: 'a', error: ERROR })
        : { body: 'caught' },
    );
    expect(await ended(await start(step))).to.include({ status: 'Completed', output: 'caught' });
  });

  it('stores what parallel steps return meanwhile, and calls the function again only when it is resumed', async () => {
    let isMended = false;
    const later = Promise.withResolvers<void>();
    const id = `f${count++}`;
    host.on(id, async ({ stepId, body: { ctx } }) => {
      if (stepId === A) return isMended ? ran(A, 'a') : failed(A, 'a');
      if (stepId === B) {
        await later.promise;
        return ran(B, 'b');
      }
      return ctx.stack.stack.length === 2 ? { body: 'both' } : asks(plan(A, 'a'), plan(B, 'b'));
    });
    const spec = { id, retries: 0, onExhausted: 'pause', triggers: [{ event: `paused/${id}` }] };
    await host.register(service, [spec], { appName: `paused${id}` });
    const runId = await start(id);
    await inState(runId, 'paused');
    later.resolve();
    await service.waitFor(`/v1/runs/${runId}/steps/${B}`, ({ status }) => status === 200);
    expect((await inState(runId, 'paused')).state.step).to.deep.equal({ id: A, name: 'a' });
    isMended = true;
    await resume(runId);
    expect(await ended(runId)).to.include({ status: 'Completed', output: 'both' });
    expect(host.calls(id)).to.have.length(5);
  });

  it('is resumed once, however many ask for it', async () => {
    let isMended = false;
    const id = await on(() => (isMended ? { body: 'done' } : FAILURE), { retries: 0 });
    const runId = await start(id);
    await inState(runId, 'paused');
    isMended = true;
    const responses = await Promise.all([resume(runId), resume(runId), resume(runId)]);
    expect(responses.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    expect(responses.find(({ status }) => status === 409)?.body.code).to.equal('run_not_paused');
    expect(await ended(runId)).to.include({ status: 'Completed' });
    expect(host.calls(id)).to.have.length(2);
    expect((await resume(runId)).body.code).to.equal('run_not_paused');
    expect((await resume('01KE7YZ5B2D4F6H8J0K2M4N6P8')).status).to.equal(404);
  });

  it('counts as one failure of its error group, also when somebody gives it up', async () => {
    const id = await on(() => FAILURE);
    const runId = await start(id);
    const { fingerprint } = await inState(runId, 'paused');
    await service.waitFor(`/v1/errors/${fingerprint}`, ({ body }) => body.data?.count === 1);
    const since = (await service.get('/v1/events?name=inngest/function.failed')).body.data.length;
    expect((await service.post(`/v1/runs/${runId}/fail`, {})).status).to.equal(200);
    const failedRun = await ended(runId);
    expect(failedRun).to.deep.include({ status: 'Failed', fingerprint });
    expect(failedRun.error).to.include(ERROR);
    const events = await service.waitFor('/v1/events?name=inngest/function.failed', ({ body }) => {
      return body.data.length > since;
    });
    expect(events.body.data[0].data.run_id).to.equal(runId);
    expect((await service.get(`/v1/errors/${fingerprint}`)).body.data).to.include({ count: 1 });
    expect((await service.post(`/v1/runs/${runId}/fail`, {})).body.code).to.equal('run_not_paused');
  });

  it('is cancelled by people, by events and by the timeout of its function', async () => {
    const options = { cancel: [{ event: 'paused/stop', if: 'event.data.n == async.data.n' }] };
    const id = await on(() => FAILURE, options);
    const byPerson = await start(id, { n: 1 });
    const byEvent = await start(id, { n: 2 });
    await inState(byPerson, 'paused');
    await inState(byEvent, 'paused');
    await service.request('DELETE', `/v1/runs/${byPerson}`);
    await service.post('/e/key', { name: 'paused/stop', data: { n: 2 } });
    expect(await ended(byPerson)).to.include({ status: 'Cancelled' });
    expect((await ended(byEvent)).cancel_reason).to.include({ cause: 'event' });
    const timed = await on(() => FAILURE, { retries: 0, timeouts: { finish: '2s' } });
    expect((await ended(await start(timed))).cancel_reason).to.include({ cause: 'finish_timeout' });
  });

  it('holds no permit of a limit', async () => {
    const id = await on(({ body }) => (body.event.data.works ? { body: 'done' } : FAILURE), { concurrency: 1 });
    await inState(await start(id), 'paused');
    expect(await ended(await start(id, { works: true }))).to.include({ status: 'Completed' });
  });

  it('is listed by its state, counted in the overview, and resumed with others by a filter', async () => {
    let isMended = false;
    const id = await on(() => (isMended ? { body: 'done' } : FAILURE), { retries: 0 });
    const before = (await service.get('/v1/overview')).body.data.paused_runs;
    const ids = [await start(id), await start(id)].reverse();
    for (const runId of ids) await inState(runId, 'paused');
    const listed = await service.get(`/v1/runs?state=paused&function_id=${functionId(id)}`);
    expect(listed.body.data.map(({ run_id }: Loose) => run_id)).to.deep.equal(ids);
    const first = await service.get('/v1/runs?state=paused&limit=1');
    expect(first.body.data.map(({ run_id }: Loose) => run_id)).to.deep.equal([ids[0]]);
    const next = await service.get(`/v1/runs?state=paused&limit=1&cursor=${first.body.metadata.cursor}`);
    expect(next.body.data.map(({ run_id }: Loose) => run_id)).to.deep.equal([ids[1]]);
    expect((await service.get('/v1/overview')).body.data.paused_runs).to.equal(before + 2);
    const { stdout } = await cliOk(['runs', 'list', '--state', 'paused', '--function', functionId(id)], { service });
    expect(stdout).to.include(ids[0]);
    isMended = true;
    await cliOk(['runs', 'resume', '--state', 'paused', '--function', functionId(id), '--yes'], { service });
    for (const runId of ids) expect(await ended(runId)).to.include({ status: 'Completed' });
    expect((await service.get('/v1/overview')).body.data.paused_runs).to.equal(before);
    const bulk = { action: 'resume', filter: { run_ids: ids } };
    const { body } = await service.post('/v1/runs/bulk', bulk);
    const done = await service.waitFor(
      `/v1/runs/bulk/${body.data.id}`,
      (response) => response.body.data.status === 'done',
    );
    expect(done.body.data.progress).to.deep.include({ done: 0 });
  });

  it('pauses if the configuration in git says so, which is the setting of its function', async () => {
    const id = await on(() => FAILURE, { retries: 0, onExhausted: undefined });
    const folder = await mkdtemp(join(tmpdir(), 'paused-runs-'));
    const file = join(folder, 'tidegate.yaml');
    const write = (functions: object[]) => writeFile(file, JSON.stringify({ functions }));
    const setting = async () => (await service.get(`/v1/functions/${functionId(id)}`)).body.data.settings.on_exhausted;
    const named = { name: functionId(id), environment: 'production' };
    try {
      await write([{ ...named, on_exhausted: 'pause' }]);
      const before = await cli(['diff', file], { service });
      expect([before.exitCode, await setting()]).to.deep.equal([7, null]);
      expect(before.stdout).to.include(`function ${functionId(id)} (production)`);
      await cliOk(['apply', file, '--yes'], { service });
      await inState(await start(id), 'paused');
      expect((await cliOk(['diff', file], { service })).stdout).to.equal('No changes.\n');
      const { stdout } = await cliOk(['export', '--only', 'functions'], { service });
      expect(stdout).to.match(new RegExp(`name: ${functionId(id)}\n +on_exhausted: pause\n`));
      await write([named]);
      await cliOk(['apply', file, '--yes'], { service });
      expect(await setting()).to.equal(null);
      expect((await cliOk(['diff', file], { service })).stdout).to.equal('No changes.\n');
      await write([{ ...named, on_exhausted: 'fail' }]);
      await cliOk(['apply', file, '--yes'], { service });
      expect(await setting()).to.equal('fail');
      await write([]);
      await cliOk(['apply', file, '--yes', '--prune'], { service });
      expect(await setting()).to.equal(null);
      await write([{ ...named, on_exhausted: 'wait' }]);
      const wrong = await cli(['apply', file, '--yes'], { service });
      expect(wrong.exitCode).to.equal(2);
      expect(wrong.stderr).to.include('on_exhausted must be fail or pause');
      await write([{ name: 'paused-unknown', on_exhausted: 'pause' }]);
      expect((await cli(['apply', file, '--yes'], { service })).stderr).to.include('create function paused-unknown');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('pauses if a setting of its function says so, although an official SDK cannot', async () => {
    const client = new Inngest({ id: 'official', isDev: true, baseUrl: service.url, logger: QUIET });
    let isMended = false;
    const ran: string[] = [];
    const pay = client.createFunction(
      { id: 'pay', retries: 1, triggers: { event: 'official/pay' } },
      async ({ step }) => {
        await step.run('reserve', () => void ran.push('reserve'));
        await step.run('charge', () => {
          ran.push('charge');
          if (!isMended) throw new Error('the key has expired');
        });
        return 'charged';
      },
    );
    const app = await startApp(serveOfficial({ client, functions: [pay] }));
    try {
      const path = '/v1/functions/official-pay';
      expect((await service.get(path)).body.data).to.include({ on_exhausted: 'fail' });
      const { body } = await service.request('PATCH', path, { on_exhausted: 'pause' });
      expect(body.data).to.deep.include({ on_exhausted: 'pause', settings: { on_exhausted: 'pause' } });
      await app.register();
      const sent = await service.post('/e/key', { name: 'official/pay', data: {} });
      const runs = await service.waitFor(
        `/v1/events/${sent.body.ids[0]}/runs`,
        (response) => response.body.data?.length === 1,
      );
      const runId = runs.body.data[0].run_id;
      expect((await inState(runId, 'paused')).state.step.name).to.equal('charge');
      isMended = true;
      await resume(runId);
      expect(await ended(runId)).to.include({ status: 'Completed', output: 'charged' });
      expect(ran).to.deep.equal(['reserve', 'charge', 'charge', 'charge']);
      const reset = await service.request('PATCH', path, { on_exhausted: null });
      expect(reset.body.data).to.deep.include({ on_exhausted: 'fail', settings: { on_exhausted: null } });
    } finally {
      await app.close();
    }
  });
});
