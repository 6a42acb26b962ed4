import { expect } from 'chai';
import { carryOnBulkAction } from '../../src/jobs/bulk/bulk-portion.ts';
import { newId } from '../../src/model/ids.ts';
import type { BulkAction } from '../../src/model/runs/bulk-action.ts';
import type { Run } from '../../src/model/runs/run.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';

const SLEEPS = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };
const FAILS = {
  status: 400,
  headers: { 'x-service-no-retry': 'true' },
  body: { name: 'Bad', message: 'card declined' },
};
const PATH = '/v1/runs/bulk';

describe('bulk actions on runs', () => {
  let service: Service;
  let host: AppHost;
  let isMended = false;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    for (const id of ['sleeps', 'naps', 'dozes']) host.on(id, () => SLEEPS);
    for (const id of ['fails', 'breaks', 'many']) host.on(id, () => (isMended ? {} : FAILS));
    const functions = ['sleeps', 'naps', 'dozes', 'fails', 'breaks', 'many'].map((id) => ({
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
      data.map((one) => ({ name: `bulk/${id}`, data: one })),
    );
    await service.waitFor(
      `/v1/runs?function_id=bulk-${id}&status=${status}&limit=100`,
      ({ body }) => body.data?.length === data.length,
    );
  }

  /** @returns the bulk action when it is over */
  async function carriedOut(body: object) {
    const { status, body: answer } = await post(PATH, body);
    expect(status, JSON.stringify(answer)).to.equal(201);
    const path = `${PATH}/${answer.data.id}`;
    return (await service.waitFor(path, ({ body: one }) => one.data?.status === 'done', 20_000)).body.data;
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

  it('cancels the active runs that the filter selects, and no others; it is audited once, with its filter', async () => {
    await send('sleeps', [{ n: 1 }, { n: 2 }], 'Running');
    const filter = { function_id: 'bulk-naps', search: 'event.data.tenant == "a"' };
    const bulk = await carriedOut({ action: 'cancel', filter });
    expect(bulk).to.deep.include({ action: 'cancel', matched: { count: 2, is_exact: true }, status: 'done' });
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
    expect(entries[0].summary).to.include('action "cancel"').and.include('bulk-naps').and.include('tenant');
  });

  it('re-runs failed and cancelled runs, each once, as a re-run of the run does', async () => {
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
      (answer) => answer.body.data?.length === 3,
    );
    const ids = (runs: { run_id: string }[]) => runs.map(({ run_id }) => run_id).sort();
    expect(body.data.map((run: { retry_of: string }) => run.retry_of).sort()).to.deep.equal(ids(before));
    expect(ids(await runsOf('fails', 'Failed'))).to.deep.equal(ids(before));
    isMended = false;
  });

  it('skips runs whose re-run is active', async () => {
    const run = (id: string, status: string) => runsOf(id, status).then(([one]) => one as { run_id: string });
    await send('breaks', [{ n: 1 }], 'Failed');
    host.on('breaks', () => SLEEPS);
    const { run_id } = await run('breaks', 'Failed');
    expect((await post(`/v1/runs/${run_id}/retry`, {})).status).to.equal(201);
    const bulk = await carriedOut({ action: 'retry', filter: { function_id: 'bulk-breaks', status: ['Failed'] } });
    expect(bulk.progress).to.deep.include({ done: 0, skipped: { run_active: 1 } });
  });

  it('can be cancelled: it changes no more runs', async () => {
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
    await service.waitFor(path, (answer) => answer.body.data.progress.done > 0);
    const { status, body: cancelled } = await post(`${path}/cancel`, {});
    expect([status, cancelled.data.status]).to.deep.equal([200, 'cancelled']);
    expect(cancelled.data.done_at).to.be.a('string');
    expect((await get(path)).data.progress.done).to.be.below(12);
    expect((await post(`${path}/cancel`, {})).body.data.status).to.equal('cancelled');
  });

  it('names what is wrong in a request', async () => {
    for (const [body, field] of [
      [{ action: 'cancel' }, 'filter'],
      [{ action: 'stop', all: true }, 'action'],
      [{ action: 'cancel', filter: { status: 'Failed' } }, 'filter.status'],
      [{ action: 'retry', filter: { status: ['Queued'] } }, 'filter.status'],
      [{ action: 'retry', filter: { statuz: 'Failed' } }, 'filter.statuz'],
      [{ action: 'retry', filter: { search: 'output ==' } }, 'search'],
      [{ action: 'retry', filter: { queued_after: '2999-01-01T00:00:00Z' } }, 'filter.queued_after'],
    ] as const) {
      const { status, body: answer } = await post(PATH, body);
      expect([status, answer.code, answer.field], JSON.stringify(answer)).to.deep.equal([400, 'input_invalid', field]);
    }
    expect((await service.get(`${PATH}/01KE7`, service.apiHeaders)).status).to.equal(404);
  });

  describe('in the store', () => {
    let store: OwnStore;
    before(async () => {
      store = await openStore();
    });
    after(() => store.close());

    it('an environment has at most ten in progress', async () => {
      const actions = Array.from({ length: 11 }, () => ({ ...actionFor('retry'), selection: selectionIn('crowded') }));
      for (const action of actions.slice(1)) await store.bulkActions.add(action);
      const refused = await store.bulkActions
        .add(actions[0] as BulkAction)
        .catch((error: { code?: string }) => error.code);
      expect(refused).to.equal('quota_exceeded');
      const { id } = actions[1] as BulkAction;
      await store.bulkActions.change('crowded', id, (action) => ({ ...action, status: 'done' }));
      await store.bulkActions.add(actions[0] as BulkAction);
      expect(await store.bulkActions.all('crowded')).to.have.length(11);
    });

    it('after a worker died, the next one acts on the same runs, under the same IDs, and counts them once', async () => {
      const runs = ['1', '2', '3'].map((id) => ({ id, status: 'Failed' })) as Run[];
      const started: string[] = [];
      let planned = 0;
      let dies = true;
      const deps = {
        bulkActions: store.bulkActions,
        selectedRuns: { page: async () => ({ found: runs, next: undefined }) } as never,
        transitions: {} as never,
        retries: {
          async nextRerun({ id }: Run) {
            planned++;
            return { id: `re-run of ${id}` };
          },
          async startRerun(_env: string, runId: string, id: string) {
            started.push(id);
            if (dies && runId === '2') throw new Error('killed');
            return { id } as Run;
          },
        },
      };
      const action = actionFor('retry');
      await store.bulkActions.add(action);
      await carryOnBulkAction(action, deps).catch(() => undefined);
      const left = (await store.bulkActions.read('production', action.id)) as BulkAction;
      expect(left).to.include({ status: 'running', done: 0 });
      dies = false;
      await carryOnBulkAction(left, deps);
      await carryOnBulkAction(left, deps);
      const after = await store.bulkActions.read('production', action.id);
      expect(after).to.include({ status: 'done', done: 3 });
      expect(planned).to.equal(3);
      expect(new Set(started).size).to.equal(3);
    });
  });
});

function selectionIn(env: string): BulkAction['selection'] {
  return { env, statuses: ['Failed'], before: Date.now() };
}

function actionFor(action: BulkAction['action']): BulkAction {
  const matched = { count: 3, isExact: true };
  const progress = { status: 'running', done: 0, skipped: {} } as const;
  return {
    id: newId(),
    action,
    selection: selectionIn('production'),
    rate: 1,
    matched,
    createdAt: Date.now(),
    ...progress,
  };
}
