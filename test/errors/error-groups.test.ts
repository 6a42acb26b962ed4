import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const STACK = 'DeclinedError: card declined\n    at charge (/app/src/charge.ts:12:9)\n    at node:internal/x:1:1';
const STEP = 'a'.repeat(40);

const declined = (n: number) => ({
  status: 400,
  headers: { 'x-service-no-retry': 'true' },
  body: { name: 'DeclinedError', message: `card ${n} declined`, stack: STACK },
});
const dataOf = ({ body }: Call) => body.event.data as { n: number };

describe('Error groups', () => {
  let service: Service;
  let host: AppHost;
  let isMended = false;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.001' } });
    host = await startAppHost();
    host.on('charge', (call) => (isMended ? {} : declined(dataOf(call).n)));
    host.on('many', (call) => ({
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'Error', message: `reason ${'x'.repeat(dataOf(call).n)}` },
    }));
    host.on('retried', () => ({ status: 500, body: { name: 'Error', message: 'always' } }));
    // The step fails for good, then the function throws its error.
    host.on('steps', ({ body }) =>
      body.ctx.stack.stack.length > 0
        ? { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'no stock' } }
        : {
            status: 206,
            body: [{ id: STEP, op: 'StepFailed', name: 'reserve', error: { name: 'Error', message: 'no stock' } }],
          },
    );
    const functions = ['charge', 'many', 'steps', 'retried', 'elsewhere'].map((id) => ({
      id,
      triggers: [{ event: `errors/${id}` }],
      retries: id === 'retried' ? 1 : 0,
    }));
    await host.register(service, functions, { appName: 'shop' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const get = async (path: string) => (await service.get(path)).body;
  const groupsOf = async (id: string, query = '') => (await get(`/v1/errors?function_id=shop-${id}${query}`)).data;

  /** @returns IDs of the runs, once they have failed */
  async function fail(id: string, numbers: number[], headers = {}): Promise<string[]> {
    const events = numbers.map((n) => ({
      name: `errors/${id}`,
      data: { n },
      ...(n > 1 && { user: { id: `u-${n % 2}` } }),
    }));
    const { body } = await service.post('/e/key', events, headers);
    const ids: string[] = [];
    for (const eventId of body.ids as string[]) {
      const { body: runs } = await service.waitFor(
        `/v1/events/${eventId}/runs`,
        ({ body: responseBody }) => responseBody.data?.[0]?.status === 'Failed',
      );
      ids.push(runs.data[0].run_id);
    }
    return ids;
  }

  it('count runs that failed for the same reason, whatever the numbers in their messages, and name the last', async () => {
    const ids = await fail('charge', [1, 22, 333]);
    const { body } = await service.waitFor(
      '/v1/errors?function_id=shop-charge',
      ({ body: { data } }) => data[0]?.count === 3,
    );
    expect(body.data).to.have.length(1);
    const [group] = body.data;
    expect(group).to.deep.include({
      function_id: 'shop-charge',
      function_name: 'charge',
      step: null,
      name: 'DeclinedError',
      state: 'open',
      times_reopened: 0,
      state_changed_by: null,
      since_deploy: null,
    });
    expect(group.message).to.match(/^card \d+ declined$/);
    expect([...group.sample_run_ids].sort()).to.deep.equal([...ids].sort());
    expect(group.histogram.counts.at(-1)).to.equal(3);
    expect(group.histogram.counts).to.have.length(28);
    expect(body.metadata.total).to.equal(1);
    const users = { count: 2, runs: 2 };
    expect((await get(`/v1/errors/${group.fingerprint}`)).data).to.deep.equal({ ...group, users });
    expect((await get(`/v1/runs/${ids[0]}`)).data.fingerprint).to.equal(group.fingerprint);
  });

  it('name the step that failed, as the run does', async () => {
    const [id] = await fail('steps', [1]);
    const { body } = await service.waitFor(
      `/v1/errors?function_id=shop-steps`,
      ({ body: { data } }) => data.length > 0,
    );
    expect(body.data[0]).to.include({ step: 'reserve', message: 'no stock' });
    expect((await get(`/v1/runs/${id}`)).data.failed_step).to.deep.equal({ step_id: STEP, name: 'reserve' });
  });

  it('count a run that failed after several attempts once', async () => {
    const [id] = await fail('retried', [1]);
    await service.waitFor('/v1/errors?function_id=shop-retried', ({ body: { data } }) => data.length > 0);
    const [group] = await groupsOf('retried');
    expect(group).to.include({ count: 1, message: 'always' });
    expect(group.sample_run_ids).to.deep.equal([id]);
    expect(host.calls('retried')).to.have.length(2);
  });

  it('are limited to 100 per function; those with the oldest last failure are dropped', async () => {
    for (let start = 0; start < 110; start += 10) {
      await fail(
        'many',
        Array.from({ length: 10 }, (_, i) => start + i + 1),
      );
    }
    const last = `reason ${'x'.repeat(110)}`;
    await service.waitFor('/v1/errors?function_id=shop-many&limit=100', ({ body: { data } }) => {
      return data.some(({ message }: { message: string }) => message === last);
    });
    const groups = await groupsOf('many', '&limit=100');
    expect(groups).to.have.length(100);
    const messages = groups.map(({ message }: { message: string }) => message);
    expect(messages).to.not.include('reason x');
  });

  it('are listed in pages, newest failure first', async () => {
    const all = (await get('/v1/errors?limit=100')).data;
    const paged: { fingerprint: string }[] = [];
    let cursor = '';
    do {
      const page = await get(`/v1/errors?limit=7${cursor}`);
      paged.push(...page.data);
      cursor = page.metadata.cursor ? `&cursor=${page.metadata.cursor}` : '';
    } while (cursor !== '');
    expect(paged.slice(0, 100)).to.deep.equal(all);
    expect(new Set(paged.map(({ fingerprint }) => fingerprint)).size).to.equal(paged.length);
    const times = all.map(({ last_seen }: { last_seen: string }) => Date.parse(last_seen));
    expect(times).to.deep.equal(times.toSorted((a: number, b: number) => b - a));
  });

  it('name the last deploy that changed the app before the first failure', async () => {
    const again = (retries: number) =>
      host.register(service, [{ id: 'once', triggers: [{ event: 'errors/once' }], retries }], { appName: 'deployed' });
    host.on('once', () => declined(1));
    await again(0);
    const first = (await get('/v1/deploys?app=deployed')).data;
    expect(first).to.have.length(1);
    await again(1);
    const [deploy] = (await get('/v1/deploys?app=deployed')).data;
    await fail('once', [1]);
    const path = '/v1/errors?function_id=deployed-once';
    const { body } = await service.waitFor(path, ({ body: { data } }) => data.length > 0);
    expect(body.data[0].since_deploy).to.deep.equal({ id: deploy.id, at: deploy.at });
    await again(2);
    expect((await get(path)).data[0].since_deploy.id).to.equal(deploy.id);
  });

  it('count only the failures of the hours of a time range', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const hourAgo = new Date(Date.now() - 2 * 3_600_000).toISOString();
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
    expect(await groupsOf('charge', `&from=${dayAgo}&to=${inAnHour}`)).to.have.length(1);
    expect(await groupsOf('charge', `&from=${dayAgo}&to=${hourAgo}`)).to.have.length(0);
    const { status, body } = await service.get(`/v1/errors?from=${inAnHour}`);
    expect([status, body.code]).to.deep.equal([400, 'input_invalid']);
  });

  it('belong to one environment', async () => {
    const staging = { 'x-service-env': 'staging' };
    await service.post('/v1/environments', { name: 'staging' });
    const [{ fingerprint, count }] = await groupsOf('charge');
    const path = `/v1/errors/${fingerprint}`;
    expect((await service.get('/v1/errors', staging)).body.data).to.deep.equal([]);
    expect((await service.get(path, staging)).status).to.equal(404);
    expect((await service.post(`${path}/resolve`, {}, staging)).status).to.equal(404);
    expect((await service.get(`/v1/runs?fingerprint=${fingerprint}`, staging)).body.data).to.deep.equal([]);
    expect((await groupsOf('charge'))[0]).to.include({ state: 'open', count });
  });

  it('are resolved, and reopened by the next failure or by a user', async () => {
    const [{ fingerprint }] = await groupsOf('charge');
    const path = `/v1/errors/${fingerprint}`;
    const resolved = await service.post(`${path}/resolve`, {});
    expect(resolved.body.data).to.include({ state: 'resolved' });
    expect(resolved.body.data.state_changed_by.kind).to.equal('dev');
    const open = async () => (await get('/v1/errors?state=open&limit=1')).metadata.total;
    const before = await open();
    expect(await groupsOf('charge', '&state=open')).to.deep.equal([]);
    expect(await groupsOf('charge', '&state=resolved')).to.have.length(1);
    await fail('charge', [4]);
    const { body } = await service.waitFor(path, ({ body: { data } }) => data.state === 'open');
    expect(body.data).to.include({ times_reopened: 1, state_changed_by: null, count: 4 });
    expect(await open()).to.equal(before + 1);
    await service.post(`${path}/resolve`, {});
    expect((await service.post(`${path}/reopen`, {})).body.data).to.include({ state: 'open', times_reopened: 1 });
    const entries = (await get('/v1/audit?limit=10')).data.map(({ action }: { action: string }) => action);
    expect(entries.filter((action: string) => action.includes('/v1/errors/'))).to.have.length(3);
    expect((await service.post(`/v1/errors/${'0'.repeat(32)}/resolve`, {})).status).to.equal(404);
  });

  it('are ignored: failures are counted, and do not open them, until a user does', async () => {
    const [{ fingerprint, count }] = await groupsOf('charge');
    const path = `/v1/errors/${fingerprint}`;
    const ignored = await service.post(`${path}/ignore`, {});
    expect(ignored.body.data).to.include({ state: 'ignored' });
    // Each run may be in another partition, whose records of the group are new.
    await fail('charge', [5, 6, 7]);
    const { body } = await service.waitFor(path, ({ body: { data } }) => data.count === count + 3);
    expect(body.data).to.include({ state: 'ignored' });
    expect(body.data.state_changed_by.kind).to.equal('dev');
    const named = ({ data }: { data: { fingerprint: string }[] }) => data.map((group) => group.fingerprint);
    expect(named(await get('/v1/errors?state=open&limit=100'))).to.not.include(fingerprint);
    expect(named(await get('/v1/errors?state=ignored'))).to.deep.equal([fingerprint]);
    expect((await service.post(`${path}/reopen`, {})).body.data).to.include({ state: 'open' });
    expect(await groupsOf('charge', '&state=open')).to.have.length(1);
  });

  it('name the last deploy after the last failure, whose code re-runs will have', async () => {
    const again = (retries: number) =>
      host.register(service, [{ id: 'newer', triggers: [{ event: 'errors/newer' }], retries }], { appName: 'mended' });
    host.on('newer', () => declined(1));
    await again(0);
    await fail('newer', [1]);
    const path = '/v1/errors?function_id=mended-newer';
    const { body } = await service.waitFor(path, ({ body: { data } }) => data.length > 0);
    expect(body.data[0]).to.deep.include({ app: 'mended', newer_deploy: null });
    await again(1);
    const [deploy] = (await get('/v1/deploys?app=mended')).data;
    expect((await get(path)).data[0].newer_deploy).to.deep.equal({ id: deploy.id, at: deploy.at });
  });

  it('are assigned to alert channels of the environment', async () => {
    const [{ fingerprint }] = await groupsOf('charge');
    const path = `/v1/errors/${fingerprint}`;
    await service.post('/v1/alert-channels', { name: 'billing', kind: 'webhook', url: 'https://example.com/hook' });
    const bad = await service.request('PATCH', path, { alert_channels: ['nobody'] });
    expect([bad.status, bad.body.code]).to.deep.equal([400, 'input_invalid']);
    expect(
      (await service.request('PATCH', path, { alert_channels: ['billing'] })).body.data.alert_channels,
    ).to.deep.equal(['billing']);
    expect((await get(path)).data.alert_channels).to.deep.equal(['billing']);
    expect((await service.request('PATCH', path, { alert_channels: null })).body.data.alert_channels).to.equal(null);
  });

  it('find their runs, all of which can be re-run once the function is fixed', async () => {
    const [{ fingerprint }] = await groupsOf('charge');
    const runs = (await get(`/v1/runs?fingerprint=${fingerprint}&limit=100`)).data;
    expect(runs).to.have.length(7);
    for (const run of runs) expect(run).to.include({ function_id: 'shop-charge', status: 'Failed' });
    isMended = true;
    const filter = { function_id: 'shop-charge', fingerprint };
    const { body } = await service.post('/v1/runs/bulk', { action: 'retry', filter, rate: 100 });
    expect(body.data.filter.fingerprint).to.equal(fingerprint);
    expect(body.data.matched.count).to.equal(7);
    const again = '/v1/runs?function_id=shop-charge&status=Completed&limit=100';
    await service.waitFor(again, ({ body: { data } }) => data.length === 7);
    const bad = await service.get('/v1/runs?fingerprint=nonsense');
    expect([bad.status, bad.body.code]).to.deep.equal([400, 'input_invalid']);
  });
});
