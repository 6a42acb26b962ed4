import { expect } from 'chai';
import { FAILS, type ReplayBed, startReplayBed } from '../replays/bed.ts';
import { until } from '../support/until.ts';

/** 3.6 s. */
const HOT_HOURS = '0.001';
const PATH = '/v1/runs/bulk';

describe('A bulk re-run of archived runs', () => {
  let bed: ReplayBed;
  before(async () => {
    bed = await startReplayBed({ archive: true, env: { HOT_HOURS } });
  });
  after(() => bed?.close());

  it('leaves out those whose archived re-run has completed', async () => {
    bed.host.on('old', () => FAILS);
    await bed.register([{ id: 'old', triggers: [{ event: 'order/old' }], retries: 0 }]);
    await bed.send([{ name: 'order/old' }, { name: 'order/old' }]);
    await bed.runs('old', 'Failed', 2);
    bed.host.on('old', () => ({}));
    const [{ run_id: first }] = (await bed.service.get('/v1/runs?function_id=shop-old')).body.data;
    await bed.service.post(`/v1/runs/${first}/retry`, {});
    await bed.runs('old', 'Completed', 1);
    await until(async () => (await bed.service.redis.keys(`${bed.service.prefix}:run:*`)).length === 0, {
      timeoutMs: 30_000,
      describe: 'Redis has no runs',
    });
    const body = { action: 'retry', filter: { function_id: 'shop-old', status: ['Failed'] } };
    const dry = (await bed.service.post(PATH, { ...body, dry_run: true })).body.data;
    expect(dry).to.deep.include({ count: 2, skipped: { already_rerun: 1 } });
    const { id } = (await bed.service.post(PATH, body)).body.data;
    const done = await bed.service.waitFor(`${PATH}/${id}`, (response) => response.body.data.status === 'done');
    expect(done.body.data.progress).to.deep.include({ done: 1, skipped: { already_rerun: 1 } });
    await bed.runs('old', 'Completed', 2);
  });
});
