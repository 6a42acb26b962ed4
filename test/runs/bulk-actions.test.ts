import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const SLEEPS = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };
const FAILS = {
  status: 400,
  headers: { 'x-service-no-retry': 'true' },
  body: { name: 'Bad', message: 'card declined' },
};
const PATH = '/v1/runs/bulk';
const RUN_ID = '01KE7YZ5B2D4F6H8J0K2M4N6P8';

const FUNCTIONS = [
  ...['sleeps', 'naps', 'dozes', 'fails', 'breaks', 'many', 'paused', 'named', 'undone', 'orphan'],
  ...['steps', 'delayed', 'forgotten'],
];

describe('Bulk actions on runs', () => {
  let service: Service;
  let host: AppHost;
  let isMended = false;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    for (const id of ['sleeps', 'naps', 'dozes', 'orphan']) host.on(id, () => SLEEPS);
    for (const id of ['fails', 'breaks', 'many', 'paused', 'named', 'undone', 'forgotten'])
      host.on(id, () => (isMended ? {} : FAILS));
    const functions = FUNCTIONS.map((id) => ({
      id,
      triggers: [{ event: `bulk/${id}` }],
    }));
    host.offer(service, functions, { appName: 'bulk' });
    await service.post('/v1/apps', { url: host.url }, service.apiHeaders);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const get = async (path: string) => (await service.get(path, service.apiHeaders)).body;
  const post = (path: string, body: object) => service.post(path, body, service.apiHeaders);
  const runsOf = async (id: string, status: string) =>
    (await get(`/v1/runs?function_id=bulk-${id}&status=${status}&limit=100`)).data;

  async function send(id: string, data: object[], status: string): Promise<void> {
    await post(
      service.eventPath,
      data.map((item) => ({ name: `bulk/${id}`, data: item })),
    );
    await service.waitFor(
      `/v1/runs?function_id=bulk-${id}&status=${status}&limit=100`,
      ({ body }) => body.data?.length === data.length,
    );
  }

  /** @returns the bulk action when it is over */
  async function carriedOut(body: object) {
    const { status, body: responseBody } = await post(PATH, body);
    expect(status, JSON.stringify(responseBody)).to.equal(201);
    const path = `${PATH}/${responseBody.data.id}`;
    return (await service.waitFor(path, ({ body: one }) => one.data?.status === 'done')).body.data;
  }

  it('a dry run counts the runs that the filter selects, and changes nothing', async () => {
    await send('naps', [{ tenant: 'a' }, { tenant: 'b' }, { tenant: 'a' }], 'Running');
    const filter = { function_id: 'bulk-naps', search: 'event.data.tenant == "a"' };
    const { status, body } = await post(PATH, { action: 'cancel', filter, dry_run: true });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data).to.deep.include({
      dry_run: true,
      action: 'cancel',
      count: 2,
      by_status: { Running: 2 },
      by_function: [{ function_id: 'bulk-naps', count: 2 }],
      stopped_at: null,
    });
    expect(body.data.sample).to.have.length(2);
    expect(await runsOf('naps', 'Running')).to.have.length(3);
    expect((await get(PATH)).data).to.deep.equal([]);
  });

  it('a bulk cancel affects only active runs that the filter selects, and is audited once with its filter', async () => {
    await send('sleeps', [{ n: 1 }, { n: 2 }], 'Running');
    const filter = { function_id: 'bulk-naps', search: 'event.data.tenant == "a"' };
    const bulk = await carriedOut({ action: 'cancel', filter });
    expect(bulk).to.deep.include({
      action: 'cancel',
      matched: { count: 2, is_exact: true, not_listed: 0 },
      status: 'done',
    });
    expect(bulk.progress).to.deep.include({ done: 2, skipped: {} });
    const cancelled = await runsOf('naps', 'Cancelled');
    expect(cancelled.map((run: { cancel_reason: object }) => run.cancel_reason)).to.deep.equal(
      Array(2).fill({ cause: 'bulk_cancellation', id: bulk.id, by: null }),
    );
    expect(await runsOf('naps', 'Running')).to.have.length(1);
    expect(await runsOf('sleeps', 'Running')).to.have.length(2);
    expect((await get(`${PATH}/${bulk.id}`)).data).to.deep.equal(bulk);
    expect((await get(PATH)).data[0]).to.deep.equal(bulk);
    const entries = (await get('/v1/audit?limit=100')).data.filter(
      ({ action }: { action: string }) => action === `POST ${PATH}`,
    );
    expect(entries).to.have.length(1);
    expect(entries[0].target).to.equal(bulk.id);
    expect(entries[0].summary)
      .to.include('action cancel')
      .and.include('filter (function_id bulk-naps; search event.data.tenant == "a"), 2 runs');
  });

  it('a bulk re-run re-runs failed and cancelled runs once each, like a re-run of a single run', async () => {
    await send('fails', [{ n: 1 }, { n: 2 }, { n: 3 }], 'Failed');
    isMended = true;
    const before = await runsOf('fails', 'Failed');
    const bulk = await carriedOut({
      action: 'retry',
      filter: { app: 'bulk', status: 'failed', error: 'card' },
      rate: 100,
    });
    expect(bulk.progress).to.deep.include({ done: 3, skipped: {} });
    const { body } = await service.waitFor(
      '/v1/runs?function_id=bulk-fails&status=Completed',
      (response) => response.body.data?.length === 3,
    );
    const ids = (runs: { run_id: string }[]) => runs.map(({ run_id }) => run_id).sort();
    expect(body.data.map((run: { retry_of: string }) => run.retry_of).sort()).to.deep.equal(ids(before));
    expect(ids(await runsOf('fails', 'Failed'))).to.deep.equal(ids(before));
    isMended = false;
  });

  it('a bulk re-run skips runs whose re-run is active', async () => {
    const run = (id: string, status: string) => runsOf(id, status).then(([one]) => one as { run_id: string });
    await send('breaks', [{ n: 1 }], 'Failed');
    host.on('breaks', () => SLEEPS);
    const { run_id } = await run('breaks', 'Failed');
    expect((await post(`/v1/runs/${run_id}/retry`, {})).status).to.equal(201);
    const bulk = await carriedOut({ action: 'retry', filter: { function_id: 'bulk-breaks', status: ['Failed'] } });
    expect(bulk.progress).to.deep.include({ done: 0, skipped: { run_active: 1 } });
  });

  it('a cancelled bulk action changes no further runs', async () => {
    await send(
      'many',
      Array.from({ length: 12 }, (_, n) => ({ n })),
      'Failed',
    );
    const { body } = await post(PATH, {
      action: 'retry',
      filter: { function_id: 'bulk-many', status: ['Failed'] },
      rate: 1,
    });
    const path = `${PATH}/${body.data.id}`;
    await service.waitFor(path, (response) => response.body.data.progress.done > 0);
    const { status, body: cancelled } = await post(`${path}/cancel`, {});
    expect([status, cancelled.data.status]).to.deep.equal([200, 'cancelled']);
    expect(cancelled.data.done_at).to.be.a('string');
    expect((await get(path)).data.progress.done).to.be.below(12);
    expect((await post(`${path}/cancel`, {})).body.data.status).to.equal('cancelled');
  });

  it('a paused bulk action can be resumed where it was', async () => {
    await send(
      'paused',
      Array.from({ length: 6 }, (_, n) => ({ n })),
      'Failed',
    );
    const filter = { function_id: 'bulk-paused', status: ['Failed'] };
    const { body } = await post(PATH, { action: 'retry', filter, rate: 1 });
    const path = `${PATH}/${body.data.id}`;
    await service.waitFor(path, (response) => response.body.data.progress.done > 0);
    const { status, body: paused } = await post(`${path}/pause`, {});
    expect([status, paused.data.status]).to.deep.equal([200, 'paused']);
    expect((await get(`${PATH}?status=paused`)).data.map(({ id }: { id: string }) => id)).to.deep.equal([body.data.id]);
    expect((await post(`${path}/resume`, {})).body.data.status).to.equal('running');
    const done = await service.waitFor(path, (response) => response.body.data.status === 'done', 20_000);
    expect(done.body.data.progress).to.deep.include({ done: 6, skipped: {} });
    const reruns = await service.waitFor(
      '/v1/runs?function_id=bulk-paused&limit=100',
      (response) => response.body.data.length === 12,
    );
    expect(reruns.body.data.filter((run: { retry_of: string | null }) => run.retry_of !== null)).to.have.length(6);
  });

  it('a bulk action on named runs says what it did with each, and why it skipped some', async () => {
    await send('named', [{ n: 1 }, { n: 2 }, { n: 3 }], 'Failed');
    const failed = (await runsOf('named', 'Failed')).map(({ run_id }: { run_id: string }) => run_id);
    const [active] = await runsOf('sleeps', 'Running');
    const named = [failed[0], active.run_id, failed[1]];
    const { body: dry } = await post(PATH, { action: 'retry', filter: { run_ids: named }, dry_run: true });
    expect(dry.data).to.deep.include({ count: 3, is_exact: true, by_status: { Failed: 2, Running: 1 } });
    const bulk = await carriedOut({ action: 'retry', filter: { run_ids: named } });
    expect(bulk.filter).to.deep.include({ run_count: 3, started_by: null });
    expect(bulk.progress).to.deep.include({ done: 2, skipped: { run_active: 1 }, position: null });
    const { data: results } = await get(`${PATH}/${bulk.id}/results?limit=100`);
    expect(results.map(({ run_id }: { run_id: string }) => run_id)).to.deep.equal(named);
    expect(results[1]).to.deep.equal({ run_id: active.run_id, rerun_id: null, skipped_because: 'run_active' });
    const rerun = (await get(`/v1/runs/${results[0].rerun_id}`)).data;
    expect(rerun.retry_of).to.equal(failed[0]);
    const page = await get(`${PATH}/${bulk.id}/results?limit=2`);
    expect(page.data).to.have.length(2);
    const rest = await get(`${PATH}/${bulk.id}/results?limit=2&cursor=${page.metadata.cursor}`);
    expect(rest.data).to.deep.equal(results.slice(2));
    expect(await runsOf('named', 'Failed')).to.have.length(5);
  });

  it('a bulk re-run is undone by cancelling the runs that it started and that are active', async () => {
    await send('undone', [{ n: 1 }, { n: 2 }], 'Failed');
    host.on('undone', () => SLEEPS);
    const filter = { function_id: 'bulk-undone', status: ['Failed'] };
    const bulk = await carriedOut({ action: 'retry', filter });
    const undo = { action: 'cancel', filter: { started_by: bulk.id } };
    await service.waitFor('/v1/runs?function_id=bulk-undone&status=Running', ({ body }) => body.data.length === 2);
    const { body: dry } = await post(PATH, { ...undo, dry_run: true });
    expect(dry.data).to.deep.include({ count: 2, is_exact: true, by_status: { Running: 2 } });
    const undone = await carriedOut(undo);
    expect(undone.progress).to.deep.include({ done: 2, skipped: {} });
    expect(undone.filter).to.deep.include({ started_by: bulk.id, run_count: null });
    expect((await runsOf('undone', 'Cancelled')).map((run: { retry_of: string }) => run.retry_of).sort()).to.deep.equal(
      (await runsOf('undone', 'Failed')).map((run: { run_id: string }) => run.run_id).sort(),
    );
    const again = await carriedOut(undo);
    expect(again.progress).to.deep.include({ done: 0, skipped: {} });
  });

  it('an undo says how many runs it leaves out because their IDs are not kept, and how to select them once none is', async () => {
    await send('forgotten', [{ n: 1 }, { n: 2 }, { n: 3 }], 'Failed');
    host.on('forgotten', () => SLEEPS);
    const bulk = await carriedOut({ action: 'retry', filter: { function_id: 'bulk-forgotten', status: ['Failed'] } });
    const active = '/v1/runs?function_id=bulk-forgotten&status=Running';
    await service.waitFor(active, ({ body }) => body.data.length === 3);
    const { bulkOperation, bulkOperationResults } = service.keys;
    const results = bulkOperationResults('production', 'bulk-action', bulk.id, 'all');
    // As if there had been no room for two of the results.
    await service.redis.ltrim(results, 0, 0);
    await service.redis.hincrby(bulkOperation('production', 'bulk-action', bulk.id), 'results_omitted', 2);
    const undo = { action: 'cancel', filter: { started_by: bulk.id } };
    const { body: dry } = await post(PATH, { ...undo, dry_run: true });
    expect(dry.data).to.deep.include({ count: 1, is_exact: false, not_listed: 2 });
    const undone = await carriedOut(undo);
    expect(undone.matched).to.deep.equal({ count: 1, is_exact: false, not_listed: 2 });
    expect(undone.progress.done).to.equal(1);

    // As if 7 days had passed.
    await service.redis.del(results);
    for (const dryRun of [{ dry_run: true }, {}]) {
      const { status, body } = await post(PATH, { ...undo, ...dryRun });
      expect([status, body.code]).to.deep.equal([409, 'started_runs_unknown']);
      expect(body.error).to.include('7 days').and.include(`"queued_after": "${bulk.created_at}"`);
    }
    const filter = { function_id: 'bulk-forgotten', queued_after: bulk.created_at };
    expect((await carriedOut({ action: 'cancel', filter })).progress.done).to.equal(2);
    expect((await get(active)).data).to.have.length(0);
  });

  it('a re-run from the failed step keeps the steps that finished before, and skips runs without a failed step', async () => {
    let isBroken = true;
    const called: string[][] = [];
    const STEP_A = 'a'.repeat(40);
    const STEP_B = 'b'.repeat(40);
    host.on('steps', ({ body }) => {
      called.push(Object.keys(body.steps));
      if (!(STEP_A in body.steps))
        return { status: 206, body: [{ id: STEP_A, op: 'StepRun', displayName: 'a', data: 1 }] };
      if (STEP_B in body.steps) return isBroken ? FAILS : {};
      if (isBroken) {
        const error = { name: 'Bad', message: 'b failed' };
        return {
          status: 206,
          headers: { 'x-service-no-retry': 'true' },
          body: [{ id: STEP_B, op: 'StepFailed', displayName: 'b', error }],
        };
      }
      return { status: 206, body: [{ id: STEP_B, op: 'StepRun', displayName: 'b', data: 2 }] };
    });
    await send('steps', [{ n: 1 }], 'Failed');
    isBroken = false;
    called.length = 0;
    const [failed] = await runsOf('steps', 'Failed');
    const [without] = await runsOf('named', 'Failed');
    const filter = { run_ids: [failed.run_id, without.run_id] };
    const bulk = await carriedOut({ action: 'retry', from: 'failed_step', filter });
    expect(bulk.from).to.equal('failed_step');
    expect(bulk.progress).to.deep.include({ done: 1, skipped: { no_failed_step: 1 } });
    const { body } = await service.waitFor(
      '/v1/runs?function_id=bulk-steps&status=Completed',
      (response) => response.body.data.length === 1,
    );
    expect(body.data[0]).to.deep.include({ retry_of: failed.run_id, from_step: STEP_B });
    expect(called[0]).to.deep.equal([STEP_A]);
  });

  it('a bulk retry makes delayed attempts now, and skips runs that wait for none', async () => {
    let isBack = false;
    host.on('delayed', () => (isBack ? {} : { status: 500, headers: { 'retry-after': '3600' }, body: {} }));
    await send('delayed', [{ n: 1 }, { n: 2 }], 'Running');
    const isDelayed = async () => {
      const runs = await Promise.all(
        (await runsOf('delayed', 'Running')).map(({ run_id }: { run_id: string }) => get(`/v1/runs/${run_id}`)),
      );
      return runs.every(({ data }) => data.next_try_at !== null);
    };
    await until(isDelayed, { describe: 'the next attempts are delayed' });
    isBack = true;
    const retrying = { app: 'bulk', state: 'retrying' };
    const { body: dry } = await post(PATH, { action: 'retry_now', filter: retrying, dry_run: true });
    expect(dry.data).to.deep.include({ count: 2, by_function: [{ function_id: 'bulk-delayed', count: 2 }] });
    expect((await get('/v1/runs/count?app=bulk&state=retrying')).data.count).to.equal(2);
    const [sleeper] = await runsOf('sleeps', 'Running');
    const delayed = (await runsOf('delayed', 'Running')).map(({ run_id }: { run_id: string }) => run_id);
    const bulk = await carriedOut({ action: 'retry_now', filter: { run_ids: [...delayed, sleeper.run_id] } });
    expect(bulk.progress).to.deep.include({ done: 2, skipped: { run_not_waiting: 1 } });
    await service.waitFor('/v1/runs?function_id=bulk-delayed&status=Completed', ({ body }) => body.data.length === 2);
  });

  it('a bulk action affects no run of another environment', async () => {
    await service.post('/v1/environments', { name: 'other', kind: 'branch' }, service.apiHeaders);
    const [run] = await runsOf('named', 'Failed');
    const headers = { ...service.apiHeaders, 'x-service-env': 'other' };
    const request = { action: 'retry', filter: { run_ids: [run.run_id] } };
    const { status, body } = await service.post(PATH, request, headers);
    expect(status, JSON.stringify(body)).to.equal(201);
    const path = `${PATH}/${body.data.id}`;
    const { data: done } = await until(
      async () => {
        const { body: responseBody } = await service.get(path, headers);
        return responseBody.data.status === 'done' && responseBody;
      },
      { describe: 'the bulk action is done' },
    );
    expect(done).to.deep.include({ matched: { count: 0, is_exact: true, not_listed: 0 } });
    expect(done.progress).to.deep.include({ done: 0, skipped: {} });
    const started = { action: 'cancel', filter: { started_by: body.data.id } };
    expect((await post(PATH, started)).status).to.equal(404);
  });

  it('GET /v1/runs/count counts the runs of a list by status', async () => {
    const { data } = await get('/v1/runs/count?function_id=bulk-naps');
    expect(data).to.deep.equal({ count: 3, by_status: { Running: 1, Cancelled: 2 }, is_exact: true });
    expect((await get('/v1/runs/count?function_id=bulk-naps&status=running')).data.count).to.equal(1);
  });

  it('the error for an invalid request names the problem', async () => {
    for (const [body, field] of [
      [{ action: 'cancel' }, 'filter'],
      [{ action: 'stop', all: true }, 'action'],
      [{ action: 'cancel', filter: { status: 'Failed' } }, 'filter.status'],
      [{ action: 'retry', filter: { status: ['Queued'] } }, 'filter.status'],
      [{ action: 'retry_now', filter: { status: ['Failed'] } }, 'filter.status'],
      [{ action: 'retry', filter: { run_ids: [RUN_ID], app: 'bulk' } }, 'filter.run_ids'],
      [{ action: 'retry', filter: { run_ids: Array(1_001).fill(RUN_ID) } }, 'filter.run_ids'],
      [{ action: 'cancel', filter: { started_by: RUN_ID, error: 'x' } }, 'filter.started_by'],
      [{ action: 'retry', from: 'somewhere', all: true }, 'from'],
      [{ action: 'retry', filter: { statuz: 'Failed' } }, 'filter.statuz'],
      [{ action: 'retry', filter: { search: 'output ==' } }, 'search'],
      [{ action: 'retry', filter: { queued_after: '2999-01-01T00:00:00Z' } }, 'filter.queued_after'],
    ] as const) {
      const { status, body: responseBody } = await post(PATH, body);
      expect([status, responseBody.code, responseBody.field], JSON.stringify(responseBody)).to.deep.equal([
        400,
        'input_invalid',
        field,
      ]);
    }
    expect((await service.get(`${PATH}/01KE7`, service.apiHeaders)).status).to.equal(404);
  });
});
