import { expect } from 'chai';
import { FAILS, type ReplayBed, startReplayBed } from '../replays/bed.ts';

const PATH = '/v1/runs/bulk';

describe('A bulk re-run of runs that were re-run', () => {
  let bed: ReplayBed;
  before(async () => {
    bed = await startReplayBed();
    const ids = ['mended', 'waits', 'broken', 'raced', 'listed'];
    for (const id of ids) bed.host.on(id, () => FAILS);
    await bed.register(ids.map((id) => ({ id, triggers: [{ event: `rerun/${id}` }], retries: 0 })));
  });
  after(() => bed.close());

  async function fail(id: string, count: number): Promise<void> {
    await bed.send(Array.from({ length: count }, () => ({ name: `rerun/${id}` })));
    await bed.runs(id, 'Failed', count);
  }

  const bodyOf = (id: string, more: object = {}) => ({
    action: 'retry',
    filter: { function_id: `shop-${id}`, status: ['Failed'] },
    rate: 1_000,
    ...more,
  });

  async function rerun(body: object) {
    const { data } = (await bed.service.post(PATH, body)).body;
    const done = await bed.service.waitFor(`${PATH}/${data.id}`, (response) => response.body.data.status === 'done');
    return done.body.data;
  }

  const preview = async (body: object) => (await bed.service.post(PATH, { ...body, dry_run: true })).body.data;

  it('leaves out those whose re-run has completed, says so before and after, and re-runs them on request', async () => {
    await fail('mended', 3);
    bed.host.on('mended', () => ({}));
    const [{ run_id: first }] = (await bed.service.get('/v1/runs?function_id=shop-mended')).body.data;
    await bed.service.post(`/v1/runs/${first}/retry`, {});
    await bed.runs('mended', 'Completed', 1);
    const body = bodyOf('mended');
    expect(await preview(body)).to.deep.include({ count: 3, skipped: { already_rerun: 1 } });
    expect((await rerun(body)).progress).to.deep.include({ done: 2, skipped: { already_rerun: 1 } });
    await bed.runs('mended', 'Completed', 3);
    expect(await preview(body)).to.deep.include({ count: 3, skipped: { already_rerun: 3 } });
    expect((await rerun(body)).progress).to.deep.include({ done: 0, skipped: { already_rerun: 3 } });
    const all = { ...body, include_already_rerun: true };
    expect(await preview(all)).to.deep.include({ count: 3, skipped: {} });
    const again = await rerun(all);
    expect(again).to.include({ include_already_rerun: true });
    expect(again.progress).to.deep.include({ done: 3, skipped: {} });
    await bed.runs('mended', 'Completed', 6);
  });

  it('leaves out those whose re-run is active, also on request', async () => {
    await fail('waits', 2);
    bed.host.on('waits', () => ({ status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] }));
    expect((await rerun(bodyOf('waits'))).progress).to.deep.include({ done: 2, skipped: {} });
    await bed.runs('waits', 'Running', 2);
    expect(await preview(bodyOf('waits'))).to.deep.include({ count: 2, skipped: { run_active: 2 } });
    const again = await rerun(bodyOf('waits', { include_already_rerun: true }));
    expect(again.progress).to.deep.include({ done: 0, skipped: { run_active: 2 } });
  });

  it('re-runs the latest of the runs that failed on an event, once', async () => {
    await fail('broken', 2);
    expect((await rerun(bodyOf('broken'))).progress).to.deep.include({ done: 2, skipped: {} });
    await bed.runs('broken', 'Failed', 4);
    expect(await preview(bodyOf('broken'))).to.deep.include({ count: 4, skipped: { already_rerun: 2 } });
    const again = await rerun(bodyOf('broken', { rate: 4 }));
    expect(again.progress).to.deep.include({ done: 2, skipped: { already_rerun: 2 } });
    await bed.runs('broken', 'Failed', 6);
  });

  it('starts one re-run of each when two are started at once', async () => {
    await fail('raced', 20);
    bed.host.on('raced', () => ({}));
    const both = await Promise.all([rerun(bodyOf('raced')), rerun(bodyOf('raced', { rate: 999 }))]);
    for (const { progress } of both) {
      expect(progress.done + (progress.skipped.already_rerun ?? 0) + (progress.skipped.run_active ?? 0)).to.equal(20);
    }
    await bed.runs('raced', 'Completed', 20);
    expect(bed.host.calls('raced')).to.have.length(40);
    await bed.runs('raced', 'Failed', 20);
  });

  it('of named runs re-runs one of each event', async () => {
    await fail('listed', 1);
    await rerun(bodyOf('listed'));
    await bed.runs('listed', 'Failed', 2);
    const { data } = (await bed.service.get('/v1/runs?function_id=shop-listed')).body;
    const run_ids = data.map(({ run_id }: { run_id: string }) => run_id).reverse();
    const done = await rerun({ action: 'retry', filter: { run_ids } });
    expect(done.progress).to.deep.include({ done: 1, skipped: { already_rerun: 1 } });
    await bed.runs('listed', 'Failed', 3);
  });
});
