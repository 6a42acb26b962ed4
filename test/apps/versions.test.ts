import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { REPLY_STATUS } from '../../src/functions/connect/messages.ts';
import type { CallJob } from '../../src/jobs/queues/queues.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import { pinText, versionOfRun } from '../../src/model/apps/versions.ts';
import { hashedId } from '../../src/model/ids.ts';
import type { Run } from '../../src/model/runs/run.ts';
import { MissingVersions } from '../../src/workers/missing-versions.ts';
import { type AppHost, type Call, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import { ConnectedInstance } from '../support/connected-app.ts';
import { request } from '../support/http.ts';
import { keyspaceOf } from '../support/redis.ts';
import { scrape } from '../support/scrape.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { sendTo, startUntil, statesOf } from '../support/waiting-runs.ts';

const STEP = 'a'.repeat(40);

describe('Versions of apps', () => {
  let service: Service;
  const hosts: AppHost[] = [];
  before(async () => {
    service = await startService({ env: { METRICS_PORT: '0' } });
  });
  after(() => service.stop());
  afterEach(() => Promise.all(hosts.splice(0).map((host) => host.close())));

  interface Deployed {
    host: AppHost;
    register(): Promise<void>;
  }

  /** An app at an address of its own, whose function waits for `<app>/go`, and then returns the version that was called. */
  async function deploy(app: string, version: string | undefined, options: object = {}): Promise<Deployed> {
    const host = await startAppHost();
    hosts.push(host);
    const waits = (call: Call) =>
      call.body.steps[STEP] === undefined
        ? {
            status: 206,
            body: [{ op: 'WaitForEvent', id: STEP, displayName: 'go', opts: { event: `${app}/go`, timeout: '1h' } }],
          }
        : { body: { ended: version ?? null } };
    host.on('fn', waits);
    const spec: FunctionSpec = { id: 'fn', triggers: [{ event: `${app}/start` }], ...options };
    const register = async () => {
      const body = {
        ...host.registration([spec], { appName: app }),
        ...(version !== undefined && { appVersion: version }),
      };
      const headers = { 'x-service-sdk': 'test:v1.0.0' };
      const response = await request('POST', `${service.url}/fn/register`, { body, headers });
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
    };
    await register();
    return { host, register };
  }

  const send = (name: string) => sendTo(service, name);

  /** Starts a run and waits until it waits. */
  const start = async (app: string): Promise<string> =>
    (await startUntil(service, 'waiting_for_event', `${app}/start`)).run_id;

  /** What the run returns after the wait. */
  async function outputs(app: string, runIds: readonly string[]): Promise<unknown[]> {
    await send(`${app}/go`);
    return Promise.all(
      runIds.map(async (id) => {
        const { body } = await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.ended_at !== null);
        return body.data.output?.ended;
      }),
    );
  }

  const versions = async (app: string) => (await service.get(`/v1/apps/${app}/versions`)).body.data;
  const states = async (app: string) => statesOf(await versions(app));

  it('a pinned run ends on the version on which it began, and a version is drained when its last one has ended', async () => {
    await deploy('pinned', 'v1', { versioning: 'pinned' });
    const first = await start('pinned');
    await deploy('pinned', 'v2', { versioning: 'pinned' });
    const second = await start('pinned');
    await deploy('pinned', 'v3', { versioning: 'pinned' });
    const third = await start('pinned');
    expect((await service.get(`/v1/runs/${first}`)).body.data.app_version).to.equal('v1');
    expect(await states('pinned')).to.deep.equal({ v1: 'draining', v2: 'draining', v3: 'active' });
    const pinned = async () => {
      const { value } = await scrape(`http://127.0.0.1:${service.webs[0]?.metricsPort}`);
      return ['v1', 'v2', 'v3'].map((version) => value('tidegate_runs_pinned', { app: 'pinned', version }));
    };
    await until(async () => (await pinned()).join() === '1,1,1', { describe: 'each version has a run in the metrics' });
    const [, , oldest] = await versions('pinned');
    expect(oldest).to.include({ version: 'v1', active_runs: 1, function_count: 1, connections: null });
    expect(oldest.oldest_run_at).to.equal((await service.get(`/v1/runs/${first}`)).body.data.queued_at);
    expect(await outputs('pinned', [first, second, third])).to.deep.equal(['v1', 'v2', 'v3']);
    expect(await states('pinned')).to.deep.equal({ v1: 'drained', v2: 'drained', v3: 'active' });
  });

  describe('of a run that has failed', () => {
    const ID = 'b'.repeat(40);
    /** An app whose function runs a step and then fails, with a failure handler and what they return. */
    async function deployFailing(app: string, version: string, { hasHandler = true } = {}) {
      const host = await startAppHost();
      hosts.push(host);
      host.on('fn', ({ body }) =>
        body.ctx.stack.stack.length > 0
          ? { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: version } }
          : { status: 206, body: [{ id: ID, op: 'StepRun', name: 'a', displayName: 'a', data: version }] },
      );
      host.on('fn-failure', () => ({ body: { handled: version } }));
      const expression = `event.data.function_id == "${app}-fn"`;
      const specs: FunctionSpec[] = [
        { id: 'fn', triggers: [{ event: `${app}/start` }], versioning: 'pinned', retries: 0 },
      ];
      const handler = {
        id: 'fn-failure',
        triggers: [{ event: 'inngest/function.failed', expression }],
        versioning: 'pinned',
      };
      const registration = host.registration(hasHandler ? [...specs, handler] : specs, { appName: app });
      const headers = { 'x-service-sdk': 'test:v1.0.0' };
      const body = { ...registration, appVersion: version };
      expect((await request('POST', `${service.url}/fn/register`, { body, headers })).status).to.equal(200);
      return host;
    }
    async function runOf(eventId: string) {
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      return (await service.get(`/v1/runs/${body.data[0].run_id}`)).body.data;
    }
    /** The run of the failure handler. */
    async function handlerOf(app: string) {
      const { body } = await service.waitFor(
        `/v1/runs?function_id=${app}-fn-failure`,
        ({ body }) => body.data[0]?.ended_at,
      );
      return (await service.get(`/v1/runs/${body.data[0].run_id}`)).body.data;
    }

    /** Fails a run on v1 after v2 became active. */
    async function failOnFirst(app: string, options: object = {}) {
      const host = await deployFailing(app, 'v1', options);
      const waits = {
        status: 206,
        body: [{ op: 'WaitForEvent', id: STEP, displayName: 'go', opts: { event: `${app}/go`, timeout: '1h' } }],
      };
      const fails = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'v1' } };
      host.on('fn', ({ body }) => (body.steps[STEP] === undefined ? waits : fails));
      const first = await start(app);
      await deployFailing(app, 'v2');
      await send(`${app}/go`);
      await service.waitFor(`/v1/runs/${first}`, ({ body }) => body.data.ended_at !== null);
      return first;
    }

    it('the failure handler runs on the version of the run', async () => {
      const failed = await failOnFirst('handled');
      expect((await service.get(`/v1/runs/${failed}`)).body.data).to.include({ status: 'Failed', app_version: 'v1' });
      expect(await handlerOf('handled')).to.deep.include({ app_version: 'v1', output: { handled: 'v1' } });
    });

    it('the failure handler runs on the active version if that of the run has none', async () => {
      await failOnFirst('unhandled', { hasHandler: false });
      expect(await handlerOf('unhandled')).to.deep.include({ app_version: 'v2', output: { handled: 'v2' } });
    });

    it('a re-run from a step ends on the version of the run, and one from the beginning on the active one', async () => {
      await deployFailing('rerun', 'v1');
      const failed = await runOf(await send('rerun/start'));
      expect(failed).to.include({ status: 'Failed', app_version: 'v1' });
      await deployFailing('rerun', 'v2');
      const rerun = async (body: object) => {
        const { data } = (await service.post(`/v1/runs/${failed.run_id}/retry`, body)).body;
        const ended = await service.waitFor(`/v1/runs/${data.run_id}`, ({ body }) => body.data.ended_at !== null);
        return { version: ended.body.data.app_version, error: ended.body.data.error.message };
      };
      expect(await rerun({ from_step: { step_id: ID } })).to.deep.equal({ version: 'v1', error: 'v1' });
      expect(await rerun({})).to.deep.equal({ version: 'v2', error: 'v2' });
    });
  });

  it('last_wake_at tells when the last run of a draining version wakes: of few exactly, of many by their alarms', async () => {
    const { host } = await deploy('sleepy', 'v1', { versioning: 'pinned' });
    const sleeps = (call: Call) => ({
      status: 206,
      body: [{ op: 'Sleep', id: STEP, displayName: 'nap', name: `${call.body.event.data.hours}h` }],
    });
    host.on('fn', sleeps);
    const lastWake = async () => {
      const [, first] = await versions('sleepy');
      expect(first).to.include({ version: 'v1', state: 'draining' });
      return first.last_wake_at;
    };
    const startSleeping = async (hours: number) => {
      const { run_id: id, state } = await startUntil(service, 'sleeping', 'sleepy/start', { hours });
      return { id: id as string, until: state.until as string };
    };
    const short = await startSleeping(1);
    expect((await versions('sleepy'))[0]).to.include({ state: 'active', last_wake_at: null });
    const long = await startSleeping(100);
    await deploy('sleepy', 'v2', { versioning: 'pinned' });
    expect(await lastWake()).to.equal(long.until);
    await service.request('DELETE', `/v1/runs/${long.id}`);
    expect(await lastWake()).to.equal(short.until);
    // As many others, whose alarms ring before.
    const keys = keyspaceOf(service.prefix).of(short.id);
    const others = Array.from({ length: 100 }, (_, i) => `${String(i).padStart(10, '0')}${short.id.slice(10)}`);
    const index = keys.pinnedRuns('production', pinText({ app: 'sleepy', version: 'v1' }));
    for (const id of others) {
      await service.redis.zadd(index, Date.now() + 1_000, id);
      await service.redis.zadd(keys.activeRuns, 1_000, `production/${id}`);
    }
    expect(await lastWake()).to.equal(short.until);
    await service.redis.zrem(index, ...others);
    await service.redis.zrem(keys.activeRuns, ...others.map((id) => `production/${id}`));
  });

  it('a pinned run pauses while its version cannot be reached, and continues when it moves to another version', async () => {
    const { host } = await deploy('gone', 'v1', { versioning: 'pinned', retries: 0 });
    const run = await start('gone');
    await deploy('gone', 'v2', { versioning: 'pinned', retries: 0 });
    await host.close();
    hosts.splice(hosts.indexOf(host), 1);
    await send('gone/go');
    const { body } = await service.waitFor(`/v1/runs/${run}`, (response) => response.body.data.state.kind === 'paused');
    expect(body.data.state).to.include({ reason: 'version_gone' });
    const listed = await service.get('/v1/runs?state=paused&app_version=v1&app=gone');
    expect(listed.body.data.map(({ run_id }: { run_id: string }) => run_id)).to.deep.equal([run]);
    await service.post(`/v1/runs/${run}/move`, { version: 'v2' });
    expect(await outputs('gone', [run])).to.deep.equal(['v2']);
  });

  it('without pinning, runs continue with the newest version, and the app has its versions all the same', async () => {
    await deploy('latest', 'v1');
    const run = await start('latest');
    await deploy('latest', 'v2');
    expect((await service.get(`/v1/runs/${run}`)).body.data.app_version).to.equal(null);
    expect(await states('latest')).to.deep.equal({ v1: 'drained', v2: 'active' });
    expect(await outputs('latest', [run])).to.deep.equal(['v2']);
  });

  it('PATCH /v1/apps/:name pins the runs of an app whose SDK cannot say so', async () => {
    await deploy('set', 'v1');
    const before = await start('set');
    const response = await service.request('PATCH', '/v1/apps/set', { versioning: 'pinned' });
    expect(response.body.data).to.include({ name: 'set', versioning: 'pinned' });
    const pinned = await start('set');
    await deploy('set', 'v2');
    expect(await states('set')).to.deep.equal({ v1: 'draining', v2: 'active' });
    expect(await outputs('set', [before, pinned])).to.deep.equal(['v2', 'v1']);
    await service.request('PATCH', '/v1/apps/set', { versioning: null });
    expect((await service.get('/v1/apps/set')).body.data.versioning).to.equal(null);
    const after = await start('set');
    expect((await service.get(`/v1/runs/${after}`)).body.data.app_version).to.equal(null);
    expect((await service.request('PATCH', '/v1/apps/nothing', { versioning: null })).status).to.equal(404);
  });

  it('a function whose app does not name its build says that its runs are not pinned', async () => {
    await deploy('unnamed', undefined, { versioning: 'pinned' });
    const [fn] = (await service.get('/v1/apps/unnamed')).body.data.functions;
    expect(fn.problems).to.have.length(1);
    expect(fn.problems[0]).to.include('appVersion');
    expect(await versions('unnamed')).to.deep.equal([]);
    await deploy('unnamed', 'v1', { versioning: 'pinned' });
    expect((await service.get('/v1/apps/unnamed')).body.data.functions[0].problems).to.deep.equal([]);
  });

  it('an earlier version becomes active again, stays so when others register again, and not when a new one comes', async () => {
    const first = await deploy('back', 'v1', { versioning: 'pinned', name: 'one' });
    const second = await deploy('back', 'v2', { versioning: 'pinned', name: 'two' });
    const between = await start('back');
    // A process of an earlier version that restarts.
    await first.register();
    expect(await states('back')).to.deep.equal({ v1: 'drained', v2: 'active' });
    const response = await service.post('/v1/apps/back/versions/v1/activate');
    expect(response.status).to.equal(200);
    expect((await service.get('/v1/functions/back-fn')).body.data).to.include({ name: 'one' });
    await second.register();
    expect(await states('back')).to.deep.equal({ v1: 'active', v2: 'draining' });
    const after = await start('back');
    const [deployed] = (await service.get('/v1/deploys?app=back')).body.data;
    expect(deployed).to.deep.include({ deploy_id: 'v1', by: { kind: 'activation', name: deployed.by.name } });
    expect(await outputs('back', [between, after])).to.deep.equal(['v2', 'v1']);
    await deploy('back', 'v3', { versioning: 'pinned' });
    expect(await states('back')).to.deep.equal({ v1: 'drained', v2: 'drained', v3: 'active' });
    expect((await service.post('/v1/apps/back/versions/v9/activate')).status).to.equal(404);
    const audit = (await service.get('/v1/audit?limit=10')).body.data;
    expect(audit.map(({ action }: { action: string }) => action)).to.include(
      'POST /v1/apps/:name/versions/:version/activate',
    );
  });

  describe('that ramp up', () => {
    const activate = (app: string, version: string, percent: number) =>
      service.post(`/v1/apps/${app}/versions/${version}/activate`, { percent });
    const shares = async (app: string) =>
      Object.fromEntries(
        (await versions(app)).map((item: Record<string, unknown>) => [item.version, `${item.state} ${item.percent}`]),
      );
    /** Sends events in one request, and counts the versions of their runs. */
    async function startMany(app: string, count: number): Promise<Record<string, number>> {
      const events = Array.from({ length: count }, () => ({ name: `${app}/start`, data: {} }));
      const { ids } = (await service.post('/e/key', events)).body;
      const isOne = ({ event_id }: { event_id: string }) => ids.includes(event_id);
      const { body } = await service.waitFor(
        `/v1/runs?app=${app}&limit=100`,
        (response) => response.body.data.filter(isOne).length === count,
      );
      const counts: Record<string, number> = {};
      for (const run of body.data.filter(isOne)) counts[run.app_version] = (counts[run.app_version] ?? 0) + 1;
      return counts;
    }

    it('start a share of the new runs, up to all, and none after 0; the rest start on the version that was active', async () => {
      const first = await deploy('ramp', 'v1', { versioning: 'pinned' });
      const second = await deploy('ramp', 'v2', { versioning: 'pinned' });
      const response = await activate('ramp', 'v2', 30);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      expect(response.body.data).to.include({ state: 'ramping', percent: 30 });
      expect(await shares('ramp')).to.deep.equal({ v1: 'active 70', v2: 'ramping 30' });
      const audit = (await service.get('/v1/audit?limit=1')).body.data[0];
      expect(audit.summary).to.include('percent 30');
      // None of one version: once in 10^9 times.
      const started = await startMany('ramp', 60);
      expect(started).to.have.all.keys('v1', 'v2');
      // Processes of both versions that restart.
      await second.register();
      await first.register();
      expect(await shares('ramp')).to.deep.equal({ v1: 'active 70', v2: 'ramping 30' });
      expect(await startMany('ramp', 60)).to.have.all.keys('v1', 'v2');
      await activate('ramp', 'v2', 0);
      expect(await shares('ramp')).to.deep.equal({ v1: 'active 100', v2: 'draining 0' });
      expect(await startMany('ramp', 20)).to.deep.equal({ v1: 20 });
      await activate('ramp', 'v2', 99);
      expect(await shares('ramp')).to.deep.equal({ v1: 'active 1', v2: 'ramping 99' });
      await activate('ramp', 'v2', 100);
      expect(await shares('ramp')).to.deep.equal({ v1: 'draining 0', v2: 'active 100' });
      expect(await startMany('ramp', 20)).to.deep.equal({ v2: 20 });
    });

    /** An app at an address of its own, whose function fails until it is called for the last time of a run that ends. */
    async function deployEnding(app: string, version: string, ends: 'completes' | 'fails', options: object = {}) {
      const { host } = await deploy(app, version, { versioning: 'pinned', retries: 0, ...options });
      host.on('fn', () => (ends === 'fails' ? { status: 500, body: { name: 'Error', message: 'no' } } : { body: {} }));
    }
    /** Starts runs, and waits until they have ended or paused. */
    async function endMany(app: string, count: number): Promise<void> {
      const events = Array.from({ length: count }, () => ({ name: `${app}/start`, data: {} }));
      const { ids } = (await service.post('/e/key', events)).body;
      await service.waitFor(
        `/v1/runs?app=${app}&limit=100`,
        ({ body }) =>
          body.data.filter((run: { event_id: string; ended_at: string | null; state: { kind: string } }) => {
            return ids.includes(run.event_id) && (run.ended_at !== null || run.state.kind === 'paused');
          }).length === ids.length,
      );
    }
    const rampOf = async (app: string, version: string) =>
      (await versions(app)).find((item: { version: string }) => item.version === version).ramp;

    for (const onExhausted of ['fail', 'pause']) {
      it(`abort when too many of their runs ${onExhausted}, and say so`, async () => {
        const app = `aborted-${onExhausted}`;
        await deployEnding(app, 'v1', 'completes');
        await deployEnding(app, 'v2', 'fails', { onExhausted });
        const bound = { failure_rate: 0.5, min_runs: 3 };
        const path = `/v1/apps/${app}/versions/v2/activate`;
        const response = await service.post(path, { percent: 99, abort_when: bound });
        expect(response.body.data.ramp).to.deep.equal({
          percent: 99,
          ended_runs: 0,
          failed_runs: 0,
          abort_when: bound,
          aborted_at: null,
        });
        expect((await service.get('/v1/audit?limit=1')).body.data[0].summary).to.include('failure_rate 0.5');
        // Fewer than 3 on the version: once in 10^13 times.
        await endMany(app, 10);
        const { aborted_at, ended_runs, failed_runs } = await until(
          async () => {
            const ramp = await rampOf(app, 'v2');
            return ramp.aborted_at !== null && ramp;
          },
          { describe: 'the ramp aborts', timeoutMs: 20_000 },
        );
        expect(aborted_at).to.be.a('string');
        expect(ended_runs).to.be.within(3, 10).and.to.equal(failed_runs);
        expect(await shares(app)).to.include({ v1: 'active 100' });
        const { body } = await service.waitFor('/v1/audit?limit=1', ({ body }) => body.data[0].action === 'ramp-abort');
        const [entry] = body.data;
        expect(entry.target).to.equal(`${app}/v2`);
        expect(entry.summary).to.include(`${failed_runs} of ${ended_runs} runs failed`);
        const { value } = await scrape(`http://127.0.0.1:${service.webs[0]?.metricsPort}`);
        expect(value('tidegate_ramps_aborted_total')).to.be.at.least(1);
        expect(await startMany(app, 10)).to.deep.equal({ v1: 10 });
        await activate(app, 'v2', 20);
        expect((await rampOf(app, 'v2')).aborted_at, 'a new ramp').to.equal(null);
      });
    }

    it('continue while few of their runs fail, which are counted for the version', async () => {
      await deployEnding('calm', 'v1', 'fails');
      await deployEnding('calm', 'v2', 'completes');
      await service.post('/v1/apps/calm/versions/v2/activate', {
        percent: 50,
        abort_when: { failure_rate: 0, min_runs: 1 },
      });
      await endMany('calm', 30);
      const runs = (await service.get('/v1/runs?app=calm&app_version=v2&limit=100')).body.data;
      await until(async () => (await rampOf('calm', 'v2')).ended_runs === runs.length, {
        describe: 'the runs of the version are counted',
      });
      expect(await rampOf('calm', 'v2')).to.include({ failed_runs: 0, aborted_at: null });
      expect(await rampOf('calm', 'v1')).to.equal(null);
    });

    it('refuse a bound without a share', async () => {
      await deploy('unbound', 'v1', { versioning: 'pinned' });
      for (const percent of [0, 100]) {
        const response = await service.post('/v1/apps/unbound/versions/v1/activate', {
          percent,
          abort_when: { failure_rate: 0.1 },
        });
        expect(response.body).to.include({ code: 'input_invalid' });
        expect(response.body.error).to.include('abort_when');
      }
    });

    it('tidegate deploys activate --percent sets the share and the bound', async () => {
      await deploy('by-cli', 'v1', { versioning: 'pinned' });
      await deploy('by-cli', 'v2', { versioning: 'pinned' });
      const command = ['deploys', 'activate', 'v2', '--app', 'by-cli', '--yes'];
      const share = ['--percent', '5', '--abort-above', '10', '--min-runs', '50'];
      const { stdout } = await cliOk([...command, ...share], { service });
      expect(stdout).to.include('v2 is ramping: 5 % of the new runs start on it');
      expect(await shares('by-cli')).to.deep.equal({ v1: 'active 95', v2: 'ramping 5' });
      expect((await rampOf('by-cli', 'v2')).abort_when).to.deep.equal({ failure_rate: 0.1, min_runs: 50 });
      const { stdout: list } = await cliOk(['deploys', 'list', '--app', 'by-cli'], { service });
      expect(list).to.match(/v2 +ramping +5 +0 of 0/);
      for (const wrong of [
        ['--percent', '101'],
        ['--percent', 'x'],
        ['--min-runs', '5'],
      ]) {
        expect((await cli([...command, ...wrong], { service })).exitCode, wrong.join(' ')).to.equal(2);
      }
      await cliOk([...command, '--percent', '0'], { service });
      expect(await shares('by-cli')).to.deep.equal({ v1: 'active 100', v2: 'drained 0' });
    });

    it('stop when a new version comes', async () => {
      await deploy('newer', 'v1', { versioning: 'pinned' });
      await deploy('newer', 'v2', { versioning: 'pinned' });
      await activate('newer', 'v2', 50);
      await deploy('newer', 'v3', { versioning: 'pinned' });
      expect(await shares('newer')).to.deep.equal({ v1: 'drained 0', v2: 'drained 0', v3: 'active 100' });
      expect(await startMany('newer', 20)).to.deep.equal({ v3: 20 });
    });

    it('need a version for the rest, and a function that both pin', async () => {
      await deploy('only', 'v1', { versioning: 'pinned' });
      expect((await activate('only', 'v1', 5)).body.error).to.include('no other version');
      expect((await activate('only', 'v9', 5)).status).to.equal(404);
      expect((await activate('only', 'v1', 101)).body.code).to.equal('input_invalid');
      await deploy('only', 'v2');
      const refused = await activate('only', 'v2', 5);
      expect(refused.body).to.include({ code: 'input_invalid' });
      expect(refused.body.error).to.include('is pinned');
      expect(await shares('only'), 'nothing has changed').to.deep.equal({ v1: 'drained 0', v2: 'active 100' });
    });
  });

  for (const versioning of ['pinned', 'latest']) {
    it(`with activation: manual, a new version of a ${versioning} app waits until somebody activates it`, async () => {
      const app = `manual-${versioning}`;
      await deploy(app, 'v1', { versioning });
      const { body } = await service.request('PATCH', `/v1/apps/${app}`, { activation: 'manual' });
      expect(body.data).to.include({ activation: 'manual', versioning: null });
      expect((await service.get('/v1/audit?limit=1')).body.data[0].summary).to.include('activation manual');
      const second = await deploy(app, 'v2', { versioning, name: 'two' });
      expect(await states(app)).to.deep.equal({ v1: 'active', v2: 'waiting' });
      await second.register();
      expect(await states(app), 'a process that restarts').to.deep.equal({ v1: 'active', v2: 'waiting' });
      expect((await service.get(`/v1/functions/${app}-fn`)).body.data.name).to.not.equal('two');
      const run = await start(app);
      const early = await cli(['deploys', 'wait', 'v2', '--app', app], { service });
      expect(early.exitCode).to.equal(2);
      expect(early.stderr).to.include('waits for its activation');
      expect(await outputs(app, [run])).to.deep.equal(['v1']);
      await service.post(`/v1/apps/${app}/versions/v2/activate`);
      expect(await states(app)).to.deep.equal({ v1: 'drained', v2: 'active' });
      expect((await service.get(`/v1/functions/${app}-fn`)).body.data.name).to.equal('two');
      const waiting = await deploy(app, 'v3', { versioning });
      await service.request('PATCH', `/v1/apps/${app}`, { activation: null });
      expect(await states(app)).to.deep.equal({ v1: 'drained', v2: 'active', v3: 'waiting' });
      await waiting.register();
      expect(await states(app)).to.deep.equal({ v1: 'drained', v2: 'drained', v3: 'active' });
    });
  }

  it('a version that waits for its activation can ramp up', async () => {
    await deploy('manual-ramp', 'v1', { versioning: 'pinned' });
    await service.request('PATCH', '/v1/apps/manual-ramp', { activation: 'manual' });
    const second = await deploy('manual-ramp', 'v2', { versioning: 'pinned' });
    await service.post('/v1/apps/manual-ramp/versions/v2/activate', { percent: 5 });
    await second.register();
    expect(await states('manual-ramp')).to.deep.equal({ v1: 'active', v2: 'ramping' });
    await service.post('/v1/apps/manual-ramp/versions/v2/activate', { percent: 0 });
    expect(await states('manual-ramp')).to.deep.equal({ v1: 'active', v2: 'waiting' });
  });

  it('configuration in git has the versioning and activation of an app', async () => {
    await deploy('in-git', 'v1');
    const file = join(await mkdtemp(join(tmpdir(), 'versions-')), 'tidegate.yaml');
    const apply = async (fields: string) => {
      await writeFile(file, `apps: [{ name: in-git, environment: production, ${fields} }]`);
      return cli(['apply', file, '--yes'], { service });
    };
    const settings = async () => {
      const { versioning, activation } = (await service.get('/v1/apps/in-git')).body.data;
      return { versioning, activation };
    };
    const first = await apply('activation: manual, versioning: pinned');
    expect(first.exitCode, first.stderr).to.equal(0);
    expect(await settings()).to.deep.equal({ versioning: 'pinned', activation: 'manual' });
    const { stdout } = await cliOk(['export', '--only', 'apps'], { service });
    expect(stdout).to.match(/name: in-git[^-]*versioning: pinned\n +activation: manual/);
    await apply('activation: manual');
    expect(await settings()).to.deep.equal({ versioning: null, activation: 'manual' });
    const wrong = await apply('activation: later');
    expect(wrong.exitCode).to.equal(2);
    expect(wrong.stderr).to.include('activation must be automatic or manual');
    await rm(dirname(file), { recursive: true });
  });

  it('of an app that is not pinned, the version that a person made active stays active until a new one comes', async () => {
    const first = await deploy('unpinned', 'v1');
    const second = await deploy('unpinned', 'v2');
    await first.register();
    expect(await states('unpinned'), 'as without versions').to.deep.equal({ v1: 'active', v2: 'drained' });
    await service.post('/v1/apps/unpinned/versions/v2/activate');
    await first.register();
    expect(await states('unpinned')).to.deep.equal({ v1: 'drained', v2: 'active' });
    const run = await start('unpinned');
    await service.post('/v1/apps/unpinned/versions/v1/activate');
    await second.register();
    expect(await outputs('unpinned', [run])).to.deep.equal(['v1']);
  });

  it('POST /v1/runs/:id/move moves a run to another version, or to the active one for good', async () => {
    await deploy('moved', 'v1', { versioning: 'pinned' });
    const [a, b] = [await start('moved'), await start('moved')];
    await deploy('moved', 'v2', { versioning: 'pinned' });
    const move = (id: string, version: string | null) => service.post(`/v1/runs/${id}/move`, { version });
    expect((await move(a, 'v2')).body.data).to.include({ run_id: a, app_version: 'v2' });
    expect((await move(b, null)).body.data).to.include({ run_id: b, app_version: null });
    expect((await move(a, 'v7')).body.code).to.equal('version_unknown');
    expect((await versions('moved')).map((item: { active_runs: number }) => item.active_runs)).to.deep.equal([1, 0]);
    await deploy('moved', 'v3', { versioning: 'pinned' });
    expect(await outputs('moved', [a, b])).to.deep.equal(['v2', 'v3']);
    expect((await move(a, 'v3')).body.code).to.equal('run_ended');
    expect((await versions('moved')).map((item: { active_runs: number }) => item.active_runs)).to.deep.equal([0, 0, 0]);
  });

  it('the last 10 versions that no run needs are kept, and all versions that a run needs', async () => {
    await deploy('many', 'v0', { versioning: 'pinned' });
    const run = await start('many');
    for (let i = 1; i <= 13; i++) await deploy('many', `v${i}`, { versioning: 'pinned' });
    const kept = (await versions('many')).map(({ version }: { version: string }) => version);
    expect(kept).to.have.members(['v0', ...Array.from({ length: 11 }, (_, i) => `v${i + 3}`)]);
    expect(await outputs('many', [run])).to.deep.equal(['v0']);
  });

  it('a pinned run of an app that connects gets its calls over connections of its version', async () => {
    const functions: FunctionSpec[] = [{ id: 'fn', triggers: [{ event: 'wired/start' }], versioning: 'pinned' }];
    const connect = (version: string) =>
      ConnectedInstance.connect(service.url, { app: 'wired', instanceId: version, version, functions });
    const first = await connect('v1');
    const waits = [{ op: 'WaitForEvent', id: STEP, displayName: 'go', opts: { event: 'wired/go', timeout: '1h' } }];
    await send('wired/start');
    const call = await first.nextCall();
    first.acknowledge(call);
    await first.reply({
      requestId: call.requestId,
      status: REPLY_STATUS.notCompleted,
      body: Buffer.from(JSON.stringify(waits)),
    });
    const second = await connect('v2');
    const eventId = await send('wired/start');
    const other = await second.nextCall();
    second.acknowledge(other);
    await second.complete(other, 'of v2');
    await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
    expect(first.calls).to.have.length(1);
    expect((await versions('wired')).map((item: object) => item)).to.have.length(2);
    expect(await states('wired')).to.deep.equal({ v1: 'draining', v2: 'active' });
    await send('wired/go');
    const last = await first.nextCall();
    first.acknowledge(last);
    await first.complete(last, 'of v1');
    await until(async () => (await states('wired')).v1 === 'drained', { describe: 'v1 is drained' });
    expect(second.calls).to.have.length(1);
    first.socket.close();
    second.socket.close();
  });
});

describe('The share of runs on a version that ramps up', () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => hashedId(1_800_000_000_000, [`${i}`]));
  const on = (percent: number) => (id: string) =>
    versionOfRun({ version: 'v1', ramp: { version: 'v2', percent } }, id) === 'v2';

  it('is that of the ramp, whatever it is', () => {
    // Six standard deviations.
    const deviation = (percent: number) => 6 * Math.sqrt(ids.length * (percent / 100) * (1 - percent / 100));
    for (const percent of [1, 5, 20, 50, 80, 99]) {
      const expected = (ids.length * percent) / 100;
      expect(ids.filter(on(percent)).length, `${percent} %`).to.be.closeTo(expected, deviation(percent));
    }
  });

  it('grows by further runs only: a run that is in stays in', () => {
    const inAt5 = ids.filter(on(5));
    expect(inAt5.every(on(5)), 'the same every time').to.equal(true);
    expect(inAt5.every(on(20))).to.equal(true);
  });

  it('is none of a function that is not pinned', () => {
    expect(versionOfRun({}, ids[0] as string)).to.equal(undefined);
    expect(versionOfRun({ version: 'v1' }, ids[0] as string)).to.equal('v1');
  });
});

describe('A version of an app without a connection', () => {
  const fn = { app: 'shop', version: 'v1' } as AppFunction;
  const job = { env: 'production', runId: 'R' } as CallJob;
  const run = { id: 'R', env: 'production', pin: { app: 'shop', version: 'v1' } } as Run;

  /** @returns the reasons of pauses, and what finds them */
  function missingOf(found: Run | undefined) {
    const reasons: string[] = [];
    const missing = new MissingVersions({
      runs: { read: async () => found } as never,
      transitions: { pause: async (_: Run, reason: string) => void reasons.push(reason) } as never,
      versionGoneMs: 1_000,
    });
    return { reasons, missing };
  }

  it('pauses a run that needs it once it was missed for long, and not if it was there meanwhile', async () => {
    const { reasons, missing } = missingOf(run);
    expect(await missing.missed(job, 'shop', 'v1', 0)).to.equal(false);
    expect(await missing.missed(job, 'shop', 'v1', 999)).to.equal(false);
    missing.found(fn, 'production');
    expect(await missing.missed(job, 'shop', 'v1', 1_500)).to.equal(false);
    expect(await missing.missed(job, 'shop', 'v2', 2_499)).to.equal(false);
    expect(reasons).to.deep.equal([]);
    expect(await missing.missed(job, 'shop', 'v1', 2_500)).to.equal(true);
    expect(reasons).to.deep.equal(['version_gone']);
  });

  it('does not pause a run that was moved meanwhile', async () => {
    const { reasons, missing } = missingOf({ ...run, pin: { app: 'shop', version: 'v2' } });
    await missing.missed(job, 'shop', 'v1', 0);
    expect(await missing.missed(job, 'shop', 'v1', 5_000)).to.equal(false);
    expect(reasons).to.deep.equal([]);
  });
});

describe('Two web processes that change an app at once', () => {
  const APP = 'shared';
  const VERSIONS = ['v1', 'v2'];
  const ROUNDS = 60;
  let service: Service;
  let hosts: AppHost[];
  before(async () => {
    service = await startService({ workers: 0, webs: 2 });
    hosts = await Promise.all(VERSIONS.map(() => startAppHost()));
  });
  after(async () => {
    await service.stop();
    await Promise.all(hosts.map((host) => host.close()));
  });

  async function register(n: number, functions: FunctionSpec[], appName: string): Promise<void> {
    const [host, url] = [hosts[n] as AppHost, service.urls[n] as string];
    const body = { ...host.registration(functions, { appName }), appVersion: VERSIONS[n] };
    const { status } = await request('POST', `${url}/fn/register`, {
      body,
      headers: { 'x-service-sdk': 'test:v1.0.0' },
    });
    expect(status).to.equal(200);
  }

  /** Makes both changes at once, in each round a little later one after the other. */
  async function inRounds(change: (n: number) => Promise<void>, check: () => Promise<void>): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const later = async () => {
        for (let turn = 0; turn < round % 20; turn++) await service.redis.ping();
        await change(1);
      };
      await Promise.all([change(0), later()]);
      await check();
    }
  }
  const stored = async (key: string, field: string) => JSON.parse((await service.redis.hget(key, field)) ?? '{}');

  it('leave the app, its functions and the choice at the version of one of them', async () => {
    const functions: FunctionSpec[] = [{ id: 'fn', triggers: [{ event: 'a' }], versioning: 'pinned' }];
    for (const n of hosts.keys()) await register(n, functions, APP);
    const activate = async (n: number) => {
      const url = `${service.urls[n]}/v1/apps/${APP}/versions/${VERSIONS[n]}/activate`;
      expect((await request('POST', url, { body: {} })).status).to.equal(200);
    };
    await inRounds(activate, async () => {
      const { deployId } = await stored(service.keys.apps('production'), APP);
      const { version } = await stored(service.keys.functions('production'), `${APP}-fn`);
      const { chosen } = await stored(service.keys.versionChoices('production'), APP);
      expect([version, chosen]).to.deep.equal([deployId, deployId]);
    });
  });

  it('leave the functions at the address of the build that the app shows', async () => {
    const functions: FunctionSpec[] = [{ id: 'fn', triggers: [{ event: 'a' }] }];
    await inRounds(
      (n) => register(n, functions, 'latest'),
      async () => {
        const { deployId } = await stored(service.keys.apps('production'), 'latest');
        const { url } = await stored(service.keys.functions('production'), 'latest-fn');
        expect(url).to.include(hosts[VERSIONS.indexOf(deployId)]?.url);
      },
    );
  });
});
