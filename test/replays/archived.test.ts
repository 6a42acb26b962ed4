import { expect } from 'chai';
import type pg from 'pg';
import { connectPostgres, schemaOf } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { FAILS, type ReplayBed, startReplayBed } from './bed.ts';

/** 3.6 s. */
const HOT_HOURS = '0.001';

describe('A replay of archived events', () => {
  let bed: ReplayBed;
  let postgres: pg.Client;
  before(async () => {
    bed = await startReplayBed({ archive: true, env: { HOT_HOURS, RETRY_SCALE: '0.001' } });
    postgres = await connectPostgres(schemaOf(bed.service.prefix));
  });
  after(async () => {
    await postgres?.end();
    await bed?.close();
  });

  const count = async (table: string) =>
    Number((await postgres.query(`SELECT count(*) AS count FROM ${table}`)).rows[0].count);
  const fn = (id: string) => ({ id, triggers: [{ event: `order/${id}` }], retries: 0 });

  it('restores the events, and selects by how their archived runs ended', async () => {
    bed.host.on('old', ({ body }) => (body.event.data.n === 0 ? FAILS : {}));
    await bed.register([fn('old')]);
    const events = [0, 1].map((n) => ({ name: 'order/old', data: { n } }));
    const { ids } = (await bed.service.post(bed.service.eventPath, [...events, { name: 'order/new', data: {} }])).body;
    const [failed, completed, unseen] = ids;
    // A failed run sends an event, which is archived as well.
    await until(async () => (await count('events')) >= 4 && (await count('runs')) === 2, {
      timeoutMs: 30_000,
      describe: 'all is archived',
    });
    await until(async () => (await bed.service.redis.keys(`${bed.service.prefix}:run:*`)).length === 0, {
      timeoutMs: 30_000,
      describe: 'Redis has no runs',
    });
    await bed.register([fn('old'), fn('new')]);
    bed.host.on('old', () => ({ body: 'again' }));
    const wanted = { statuses: ['Failed', 'none'], filter: { name: 'order/*' } };
    const dry = await bed.dryRun(wanted);
    expect(dry).to.deep.include({ looked_at: 3, matched: 2, would_start: 2, skipped: {}, stopped_at: null });
    const { id } = await bed.create({ ...wanted, rate: 1_000 });
    const done = await bed.until(id, ({ status, runs }) => status === 'done' && runs.active === 0);
    expect(done.progress).to.deep.include({ started: 2, failed_to_start: {} });
    expect(done.runs).to.deep.equal({ active: 0, completed: 2, failed: 0, cancelled: 0 });
    expect((await bed.results(id)).map(({ event_id }) => event_id)).to.deep.equal([failed, unseen]);
    const runsOf = async (eventId: string) => (await bed.service.get(`/v1/events/${eventId}/runs`)).body.data;
    const [former, again] = await runsOf(failed);
    expect(again).to.include({ replay_id: id, retry_of: former.run_id, status: 'Completed', output: 'again' });
    expect(await runsOf(completed)).to.have.length(1);
    expect(await runsOf(unseen)).to.have.length(1);
    expect(bed.host.calls('old').at(-1)?.body.event.data).to.deep.equal({ n: 0 });
    expect(await bed.dryRun(wanted)).to.deep.include({ looked_at: 3, matched: 0, would_start: 0 });
  });
});
