import { expect } from 'chai';
import { FAILS, type ReplayBed, range, startReplayBed } from './bed.ts';

// biome-ignore lint/suspicious/noExplicitAny: a response of the API
const isSettled = ({ status, runs }: any) => status === 'done' && runs.active === 0;

describe('A replay', () => {
  let bed: ReplayBed;
  const fn = (id: string, rest: object = {}) => ({ id, triggers: [{ event: `order/${id}` }], retries: 0, ...rest });
  before(async () => {
    bed = await startReplayBed();
    await bed.register([fn('paid'), fn('paused'), fn('broken')]);
  });
  after(() => bed?.close());

  it('starts one run for each event whose former run failed, marks it, and counts its end', async () => {
    bed.host.on('paid', ({ body }) => (body.event.data.n < 3 ? FAILS : {}));
    const ids = await bed.send([0, 1, 2, 3, 4].map((n) => ({ name: 'order/paid', data: { n } })));
    await bed.runs('paid', 'Failed', 3);
    await bed.runs('paid', 'Completed', 2);
    bed.host.on('paid', () => ({ body: 'again' }));
    const wanted = { filter: { name: 'order/paid' }, functions: ['shop-paid'] };
    const dry = await bed.dryRun(wanted);
    expect(dry).to.deep.include({ looked_at: 5, matched: 3, would_start: 3, skipped: {}, stopped_at: null });
    expect(dry.by_function).to.deep.equal([
      { function_id: 'shop-paid', would_start: 3, by_former_status: { Failed: 3 } },
    ]);
    expect(dry.sample.map((comparison: { event_id: string }) => comparison.event_id)).to.deep.equal(ids.slice(0, 3));
    const { id } = await bed.create({ ...wanted, name: 'after the fix', rate: 1_000 });
    const done = await bed.until(id, isSettled);
    expect(done.progress).to.deep.include({ looked_at: 5, matched: 3, started: 3, skipped: {}, failed_to_start: {} });
    expect(done.runs).to.deep.equal({ active: 0, completed: 3, failed: 0, cancelled: 0 });
    for (const [n, eventId] of ids.entries()) {
      const { body } = await bed.service.get(`/v1/events/${eventId}/runs`);
      const replayed = body.data.filter((run: { replay_id: string | null }) => run.replay_id !== null);
      expect(replayed).to.have.length(n < 3 ? 1 : 0);
      if (n >= 3) continue;
      expect(replayed[0]).to.include({ replay_id: id, retry_of: body.data[0].run_id, output: 'again' });
    }
    const results = await bed.results(id);
    expect(results.map(({ event_id, outcome }) => [event_id, outcome])).to.deep.equal(
      ids.slice(0, 3).map((eventId) => [eventId, 'started']),
    );
    const again = await bed.create({ ...wanted, rate: 1_000 });
    expect((await bed.until(again.id, isSettled)).progress.started).to.equal(0);
  });

  it('starts runs on events that had none because the function came later, was paused, or was broken', async () => {
    const pause = await bed.service.post('/v1/functions/shop-paused/pause', {});
    expect(pause.status).to.equal(200);
    await bed.send([{ name: 'order/paused' }, { name: 'order/later' }]);
    await bed.register([
      fn('paid'),
      fn('paused'),
      fn('broken', { triggers: [{ event: 'order/broken', expression: 'event.data.a.b > 1' }] }),
    ]);
    await bed.send([{ name: 'order/broken', data: { total: 1 } }]);
    await bed.register([fn('paid'), fn('paused'), fn('broken'), fn('later')]);
    const wanted = { statuses: ['none'], filter: { name: 'order/*' } };
    const whilePaused = await bed.dryRun(wanted);
    expect(whilePaused).to.deep.include({ would_start: 2, skipped: { function_paused: 1 } });
    await bed.service.post('/v1/functions/shop-paused/resume', {});
    const dry = await bed.dryRun(wanted);
    expect(dry.by_function.map((fn: { function_id: string }) => fn.function_id)).to.deep.equal([
      'shop-broken',
      'shop-later',
      'shop-paused',
    ]);
    const { id } = await bed.create({ ...wanted, rate: 1_000 });
    const done = await bed.until(id, isSettled);
    expect(done.progress.started).to.equal(dry.would_start);
    expect(done.runs.completed).to.equal(3);
    for (const one of ['broken', 'later', 'paused']) await bed.runs(one, 'Completed', 1);
  });

  it('says why it skips events, such as archived and paused functions, other triggers, and active runs', async () => {
    const sleeps = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };
    await bed.register([fn('paid'), fn('paused'), fn('sleeps'), fn('gone')]);
    bed.host.on('sleeps', () => sleeps);
    bed.host.on('gone', () => FAILS);
    await bed.send([{ name: 'order/sleeps' }, { name: 'order/gone' }]);
    await bed.runs('sleeps', 'Running', 1);
    await bed.runs('gone', 'Failed', 1);
    await bed.register([fn('paid'), fn('paused'), fn('sleeps')]);
    const wanted = {
      statuses: ['Failed', 'none'],
      filter: { search: 'name == "order/sleeps" || name == "order/gone"' },
      functions: ['shop-sleeps', 'shop-gone'],
    };
    const dry = await bed.dryRun(wanted);
    // Each event does not match the function of the other; that of the archived function is not looked at.
    expect(dry).to.deep.include({
      matched: 2,
      would_start: 0,
      skipped: { run_active: 1, function_archived: 2, not_matching: 1 },
    });
    const { id } = await bed.create({ ...wanted, rate: 1_000 });
    const done = await bed.until(id, isSettled);
    expect(done.progress).to.deep.include({ started: 0, skipped: dry.skipped });
    expect(await bed.results(id, '&outcome=started')).to.have.length(0);
    const skipped = await bed.results(id, '&outcome=skipped');
    expect(skipped.map(({ reason }) => reason).sort()).to.deep.equal([
      'function_archived',
      'function_archived',
      'not_matching',
      'run_active',
    ]);
  });

  it('is in the list, newest first, and in the audit log with its filter', async () => {
    const first = await bed.create({ filter: { name: 'none/*' }, name: 'one' });
    const second = await bed.create({ filter: { name: 'none/*' }, name: 'two' });
    const page = await bed.service.get('/v1/replays?limit=1');
    expect(page.body.data.map(({ id }: { id: string }) => id)).to.deep.equal([second.id]);
    const next = await bed.service.get(`/v1/replays?limit=1&cursor=${page.body.metadata.cursor}`);
    expect(next.body.data.map(({ id }: { id: string }) => id)).to.deep.equal([first.id]);
    await bed.dryRun();
    const { body } = await bed.service.get('/v1/audit?limit=1');
    expect(body.data[0]).to.include({ action: 'POST /v1/replays', target: second.id });
    expect(body.data[0].summary)
      .to.include('name two')
      .and.include('filter (name none/*)')
      .and.include('statuses Failed');
  });

  it('looks only at the named events', async () => {
    bed.host.on('paid', () => FAILS);
    const ids = await bed.send([10, 11, 12].map((n) => ({ name: 'order/paid', data: { n } })));
    for (const id of ids) {
      await bed.service.waitFor(`/v1/events/${id}/runs`, ({ body }) =>
        body.data?.some(
          (run: { function_id: string; status: string }) => run.function_id === 'shop-paid' && run.status === 'Failed',
        ),
      );
    }
    bed.host.on('paid', () => ({ body: 'again' }));
    const wanted = { filter: { ids: [ids[0], ids[2]] }, functions: ['shop-paid'] };
    expect(await bed.dryRun(wanted)).to.deep.include({ looked_at: 2, would_start: 2 });
    const { id, filter } = await bed.create({ ...wanted, rate: 1_000 });
    expect(filter).to.deep.include({ id_count: 2, name: null });
    await bed.until(id, isSettled);
    const results = await bed.results(id);
    expect(results.map((result) => result.event_id)).to.deep.equal([ids[0], ids[2]]);
    const { status, body } = await bed.service.post('/v1/replays', {
      ...range(),
      statuses: ['Failed'],
      filter: { ids: [ids[0]], name: 'order/paid' },
    });
    expect([status, body.field]).to.deep.equal([400, 'filter.ids']);
  });

  it('names what is wrong with a request', async () => {
    const now = new Date().toISOString();
    const earlier = new Date(Date.now() - 60_000).toISOString();
    const valid = { statuses: ['none'], received_after: earlier, received_before: now };
    for (const [wrong, code] of [
      [{ received_after: undefined }, 'input_invalid'],
      [{ received_before: undefined }, 'input_invalid'],
      [{ received_after: now, received_before: earlier }, 'input_invalid'],
      [{ received_after: '2001-01-01T00:00:00Z', received_before: '2001-02-01T00:00:00Z' }, 'input_invalid'],
      [{ statuses: [] }, 'input_invalid'],
      [{ statuses: ['Running'] }, 'input_invalid'],
      [{ rate: 0 }, 'input_invalid'],
      [{ rate: 1_001 }, 'input_invalid'],
      [{ functions: [] }, 'input_invalid'],
      [{ functions: Array.from({ length: 101 }, (_, n) => `f${n}`) }, 'input_invalid'],
      [{ functions: ['shop-none'] }, 'not_found'],
      [{ filter: { id_prefix: 'l' } }, 'input_invalid'],
      [{ filter: { name: 'x'.repeat(513) } }, 'input_invalid'],
      [{ filter: { search: 'data.n ==' } }, 'input_invalid'],
      [{ filter: { search: `data.n == "${'x'.repeat(5_000)}"` } }, 'input_invalid'],
      [{ filter: { nam: 'x' } }, 'input_invalid'],
    ] as const) {
      const { body } = await bed.service.post('/v1/replays', { ...valid, ...wrong });
      expect(body.code, JSON.stringify([wrong, body])).to.equal(code);
    }
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/results'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/cancel'],
    ]) {
      const { status } = await bed.service.request(
        method as string,
        `/v1/replays/none${path}`,
        method === 'POST' ? {} : undefined,
      );
      expect(status, `${method} ${path}`).to.equal(404);
    }
  });
});
