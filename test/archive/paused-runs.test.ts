import { expect } from 'chai';
import { type AppHost, type Call, type HostResponse, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { findKeys } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { sendTo, startUntil } from '../support/waiting-runs.ts';

const ENV = 'production';
const STEP = 'a'.repeat(40);
const FAILURE: HostResponse = { status: 500, body: { name: 'KeyExpired', message: 'the key has expired' } };
const NAP = { status: 206, body: [{ op: 'Sleep', id: STEP, displayName: 'nap', name: '30d' }] };

describe('A run that is paused for longer than HOT_HOURS', () => {
  let service: Service;
  const hosts: AppHost[] = [];
  let isMended = false;
  before(async () => {
    const env = { STALLED_AFTER_SECONDS: '1', HOT_HOURS: '0.001', RETRY_SCALE: '0.001' };
    service = await startService({ archive: true, env });
  });
  after(async () => {
    for (const host of hosts) await host.close();
    await service?.stop();
  });

  /** An app at an address of its own. */
  async function deploy(appVersion: string): Promise<AppHost> {
    const host = await startAppHost();
    hosts.push(host);
    host.on('breaks', () => (isMended ? { body: appVersion } : FAILURE));
    host.on('naps', () => NAP);
    const waits = { op: 'WaitForEvent', id: STEP, displayName: 'go', opts: { event: 'paused/go', timeout: '1h' } };
    host.on('waits', ({ body: { steps } }: Call) =>
      steps[STEP] === undefined ? { status: 206, body: [waits] } : { body: appVersion },
    );
    const options = { retries: 0, onExhausted: 'pause' as const };
    const specs = ['breaks', 'naps', 'waits'].map((id) => ({ id, triggers: [{ event: `paused/${id}` }], ...options }));
    const pinned = specs.map((spec) => (spec.id === 'waits' ? { ...spec, versioning: 'pinned' } : spec));
    const body = { ...host.registration(pinned, { appName: 'paused' }), appVersion };
    const headers = { 'x-service-sdk': 'test:v1.0.0' };
    expect((await request('POST', `${service.url}/fn/register`, { body, headers })).status).to.equal(200);
    return host;
  }

  const view = async (id: string) => (await service.get(`/v1/runs/${id}`)).body.data;
  const ended = async (id: string) =>
    (await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data?.ended_at)).body.data;
  const inState = (id: string, kind: string) =>
    service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data?.state.kind === kind);
  const listed = async (filter = '') => {
    const { body } = await service.get(`/v1/runs?state=paused${filter}`);
    return body.data.map(({ run_id }: { run_id: string }) => run_id).sort();
  };
  /** In Postgres alone are runs that sleep. */
  const isOffloaded = (id: string) => service.redis.hexists(service.keys.of(id).offloadedRuns(ENV), id);
  const isHot = async (id: string) => (await service.redis.exists(service.keys.of(id).run(ENV, id))) === 1;

  it('stays in Redis when its event has left, and is listed, counted, resumed, moved and cancelled as before', async function () {
    this.timeout(120_000);
    const first = await deploy('v1');
    const start = (name: string, kind: 'paused' | 'waiting_for_event') => startUntil(service, kind, `paused/${name}`);
    const exhausted = [
      await start('breaks', 'paused'),
      await start('breaks', 'paused'),
      await start('breaks', 'paused'),
    ];
    const gone = [await start('waits', 'waiting_for_event'), await start('waits', 'waiting_for_event')];
    await deploy('v2');
    await first.close();
    hosts.splice(hosts.indexOf(first), 1);
    await sendTo(service, 'paused/go');
    for (const { run_id } of gone) await inState(run_id, 'paused');
    const all = [...exhausted, ...gone].map(({ run_id }) => run_id as string);
    const before = { runs: await Promise.all(all.map(view)), all: await listed() };
    expect(before.all).to.deep.equal([...all].sort());

    const asleep = await startUntil(service, 'sleeping', 'paused/naps');
    await until(() => isOffloaded(asleep.run_id), { describe: 'a run that sleeps is in Postgres', timeoutMs: 60_000 });
    const buckets = () => findKeys(service.redis, service.prefix, /:(event-bucket|event-minutes):/);
    await until(async () => (await buckets()).length === 0, { describe: 'all events have left', timeoutMs: 60_000 });
    expect(await Promise.all(all.map(isHot))).to.deep.equal(all.map(() => true));

    expect(await Promise.all(all.map(view))).to.deep.equal(before.runs);
    expect(await listed()).to.deep.equal(before.all);
    expect(await listed('&app_version=v1')).to.deep.equal(gone.map(({ run_id }) => run_id).sort());
    expect((await service.get('/v1/overview')).body.data.paused_runs).to.equal(all.length);
    const { body: counted } = await service.post('/v1/runs/bulk', {
      ...{ action: 'cancel', filter: { state: 'paused' }, dry_run: true },
    });
    expect(counted.data.count, JSON.stringify(counted)).to.equal(all.length);

    isMended = true;
    const [resumed, cancelled, inBulk, moved, resumedOnFirst] = all as [string, string, string, string, string];
    expect((await service.post(`/v1/runs/${resumed}/resume`, {})).status).to.equal(200);
    expect(await ended(resumed)).to.include({ status: 'Completed', output: 'v2' });
    expect((await service.request('DELETE', `/v1/runs/${cancelled}`)).status).to.equal(200);
    expect((await ended(cancelled)).status).to.equal('Cancelled');
    await service.post('/v1/runs/bulk', {
      action: 'resume',
      filter: { state: 'paused', function_id: 'paused-breaks' },
    });
    expect(await ended(inBulk)).to.include({ status: 'Completed', output: 'v2' });
    await service.post(`/v1/runs/${moved}/move`, { version: 'v2' });
    expect(await ended(moved)).to.include({ status: 'Completed', output: 'v2' });
    expect((await service.post(`/v1/runs/${resumedOnFirst}/resume`, {})).status).to.equal(200);
    await service.waitFor(`/v1/runs/${resumedOnFirst}`, ({ body }) => {
      const { state } = body.data;
      return state.kind === 'paused' && state.since > (before.runs.at(-1).state.since as string);
    });
    await service.request('DELETE', `/v1/runs/${resumedOnFirst}`);
    expect(await listed()).to.deep.equal([]);
  });
});
