import { expect } from 'chai';
import { request } from '../support/http.ts';
import { deliver as deliverTo, type LoggedWebhook, makeWebhook } from '../support/logged-webhooks.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ECHO = `function transform(evt) {
  if (evt.throws) throw new Error('cannot');
  return evt.none ? null : { name: evt.name ?? 'replay/x', data: { n: evt.n } };
}`;
const DRAFT = `function transform(evt) {
  if (evt.n === 3) return null;
  if (evt.n === 4) throw new Error('draft cannot');
  return { name: evt.n === 2 ? 'replay/renamed' : 'replay/x', data: { n: evt.n } };
}`;

describe('Replays of webhook requests', () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { WEBHOOK_LOG_SIZE: '1000' } });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body);

  const make = (fields: object = {}) => makeWebhook(service, { transform: ECHO, ...fields });
  const deliver = (webhook: LoggedWebhook, bodies: object[]) => deliverTo(service, webhook, bodies);

  const replays = (webhook: LoggedWebhook, rest = '') => `/v1/webhooks/${webhook.id}/replays${rest}`;
  const replay = async (webhook: LoggedWebhook, body: object) => {
    const response = await call('POST', replays(webhook), body);
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return response.body.data;
  };
  const ended = async (webhook: LoggedWebhook, id: string) =>
    (await service.waitFor(replays(webhook, `/${id}`), ({ body }) => body.data.ended_at !== null)).body.data;
  const results = async (webhook: LoggedWebhook, id: string, status: string) =>
    (await call('GET', replays(webhook, `/${id}/results?status=${status}`))).body.data;
  const eventsNamed = async (name: string) => (await call('GET', `/v1/events?name=${name}&limit=100`)).body.data;

  it('a dry run counts the requests and shows what a draft would change, and ingests nothing', async () => {
    const webhook = await make();
    const ids = await deliver(webhook, [
      { n: 1 },
      { n: 2 },
      { n: 3 },
      { n: 4 },
      { n: 5, none: true },
      { n: 6, throws: true },
    ]);
    const { dry_run, replay: none } = await replay(webhook, { draft: DRAFT });
    expect(none).to.equal(null);
    expect(dry_run).to.include({ total: 6, total_is_exact: true });
    const shown = dry_run.sample.map((comparison: { request_id: string; change: string }) => [
      comparison.request_id,
      comparison.change,
    ]);
    const changes = ['same', 'changed', 'no_event', 'error', 'new_event', 'new_event'];
    expect(shown).to.deep.equal(ids.map((id, i) => [id, changes[i]]).toReversed());
    const [, , failing, ignored, renamed] = dry_run.sample;
    expect(renamed.before.event).to.deep.include({ name: 'replay/x', data: { n: 2 } });
    expect(renamed.after.event).to.deep.include({ name: 'replay/renamed', data: { n: 2 } });
    expect(ignored.after).to.include({ outcome: 'ignored', event: null });
    expect(failing.after).to.include({ outcome: 'rejected', reason: 'transform_failed' });
    expect(failing.after.message).to.include('draft cannot');
    expect(failing.logged).to.deep.equal({ outcome: 'accepted', event_name: 'replay/x', reason: null });
    expect(await eventsNamed('replay/renamed')).to.deep.equal([]);
    expect((await call('GET', replays(webhook))).body.data).to.deep.equal([]);
    expect((await call('GET', `/v1/webhooks/${webhook.id}`)).body.data.transform).to.equal(ECHO);
  });

  it('a dry run without a draft compares the present transform with the log', async () => {
    const webhook = await make();
    await deliver(webhook, [{ n: 1 }, { n: 2, throws: true }]);
    await call('PATCH', `/v1/webhooks/${webhook.id}`, {
      transform: "const transform = () => ({ name: 'replay/x', data: {} });",
    });
    const { dry_run } = await replay(webhook, {});
    const shown = dry_run.sample.map((comparison: { before: object; change: string }) => [
      comparison.before,
      comparison.change,
    ]);
    expect(shown).to.deep.equal([
      [null, 'new_event'],
      [null, 'same'],
    ]);
    const rejected = await replay(webhook, { outcomes: ['rejected'] });
    expect([rejected.dry_run.total, rejected.dry_run.sample.length]).to.deep.equal([1, 1]);
  });

  it('a replay of the requests before 1970 has none, and one of those since then has all', async () => {
    const webhook = await make();
    await deliver(webhook, [{ n: 1 }]);
    for (const [range, total] of [
      [{ to: '1969-12-31T23:59:59.988Z' }, 0],
      [{ from: '0020-02-29T00:00:00Z' }, 1],
    ] as const) {
      expect((await replay(webhook, range)).dry_run.total).to.equal(total);
    }
  });

  it('a replay processes requests oldest first, and says which became an event and why others did not', async () => {
    const webhook = await make({ event_names: { mode: 'deny', items: ['noise/*'] } });
    const ids = await deliver(webhook, [
      { n: 1, throws: true },
      { n: 2, throws: true },
      { n: 3, none: true },
      { n: 4, throws: true },
      { n: 5, throws: true },
    ]);
    const draft = `function transform(evt) {
      if (evt.n === 4) throw new Error('still');
      if (evt.n === 5) return { name: 'noise/x', data: {} };
      return evt.none ? null : { name: 'replay/real', data: { n: evt.n }, id: 'the same' };
    }`;
    const { replay: started, dry_run } = await replay(webhook, { draft, dry_run: false, rate: 100 });
    expect(dry_run).to.equal(null);
    expect(started).to.include({ state: 'running', total: 5, with_draft: true, rate: 100 });
    const done = await ended(webhook, started.id);
    expect(done).to.include({ state: 'done', done: 1, failed: 1, skipped: 3, position: ids[4] });
    const [made] = await results(webhook, started.id, 'done');
    expect(made.request_id).to.equal(ids[0]);
    expect(await results(webhook, started.id, 'skipped')).to.deep.equal([
      { request_id: ids[1], event_id: made.event_id, reason: 'duplicate', message: null },
      { request_id: ids[2], event_id: null, reason: 'ignored', message: null },
      { request_id: ids[4], event_id: null, reason: 'filtered', message: null },
    ]);
    const [failed] = await results(webhook, started.id, 'failed');
    expect(failed).to.include({ request_id: ids[3], reason: 'transform_failed' });
    expect(failed.message).to.include('still');
    const { body } = await service.stored(made.event_id);
    expect(body.data).to.deep.include({ name: 'replay/real', data: { n: 1 } });
    const { request: provenance } = (await call('GET', `/v1/events/${made.event_id}/arrival`)).body.data;
    expect(provenance.id).to.equal(ids[0]);
    expect((await call('GET', `/v1/webhooks/${webhook.id}`)).body.data.transform).to.equal(ECHO);
    const audited = (await call('GET', '/v1/audit?limit=5')).body.data;
    expect(audited.map(({ action }: { action: string }) => action)).to.include('POST /v1/webhooks/:id/replays');
  });

  it('a replay can take named requests, and leaves out re-runs', async () => {
    const webhook = await make();
    const ids = await deliver(webhook, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    await call('POST', `/v1/webhooks/${webhook.id}/requests/${ids[0]}/rerun`, { dry_run: false });
    const path = `/v1/webhooks/${webhook.id}/requests`;
    const logged = await service.waitFor(path, ({ body }) => body.data.length === 4);
    const rerun = logged.body.data[0].id;
    const gone = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
    const { replay: started } = await replay(webhook, {
      request_ids: [rerun, ids[1], gone],
      dry_run: false,
      rate: 100,
    });
    expect(await ended(webhook, started.id)).to.include({ total: 3, done: 1, skipped: 2, failed: 0 });
    const skipped = await results(webhook, started.id, 'skipped');
    expect(skipped.map(({ reason }: { reason: string }) => reason)).to.deep.equal(['request_gone', 'rerun']);
  });

  it('a replay is paused, resumed and cancelled', async () => {
    const webhook = await make();
    await deliver(
      webhook,
      Array.from({ length: 20 }, (_, n) => ({ n })),
    );
    const { replay: started } = await replay(webhook, { dry_run: false, rate: 4 });
    const path = replays(webhook, `/${started.id}`);
    await service.waitFor(path, ({ body }) => body.data.done >= 2);
    expect((await call('POST', `${path}/pause`)).body.data.state).to.equal('paused');
    await until(async () => (await service.redis.exists(service.keys.lock(`webhook-replay:${started.id}`))) === 0, {
      describe: 'nobody works on the replay',
    });
    const { done } = (await call('GET', path)).body.data;
    expect(done).to.be.below(20);
    expect((await call('POST', `${path}/resume`)).body.data).to.include({ state: 'running', done });
    await service.waitFor(path, ({ body }) => body.data.done > done);
    const cancelled = (await call('POST', `${path}/cancel`)).body.data;
    expect(cancelled.state).to.equal('cancelled');
    expect(cancelled.ended_at).to.be.a('string');
    expect((await call('POST', `${path}/resume`)).body.data.state).to.equal('cancelled');
    expect((await call('GET', replays(webhook))).body.data.map(({ id }: LoggedWebhook) => id)).to.deep.equal([
      started.id,
    ]);
  });

  it('a replay of a deleted webhook is cancelled', async () => {
    const webhook = await make();
    await deliver(
      webhook,
      Array.from({ length: 10 }, (_, n) => ({ n })),
    );
    const { replay: started } = await replay(webhook, { dry_run: false, rate: 1 });
    await call('DELETE', `/v1/webhooks/${webhook.id}`);
    const open = service.keys.openBulkOperations('', 'webhook-replay');
    await until(async () => (await service.redis.sismember(open, started.id)) === 0, {
      describe: 'the replay has ended',
    });
    const key = service.keys.bulkOperation('', 'webhook-replay', started.id);
    expect(await service.redis.hget(key, 'status')).to.equal('cancelled');
  });

  it('POST /v1/webhooks/:id/replays rejects a draft that does not compile, an impossible time range, and too many replays', async () => {
    const webhook = await make();
    await deliver(webhook, [{ n: 1 }]);
    const refused = async (body: object) => (await call('POST', replays(webhook), body)).body.code;
    expect(await refused({ draft: 'function (' })).to.equal('transform_invalid');
    expect(await refused({ from: '2040-01-01T00:00:00Z' })).to.equal('input_invalid');
    expect(await refused({ rate: 101 })).to.equal('input_invalid');
    expect((await call('GET', replays(webhook, '/01ARZ3NDEKTSV4RRFFQ69G5FAV'))).status).to.equal(404);
    // So many at once: each lasts for seconds.
    await deliver(
      webhook,
      Array.from({ length: 10 }, (_, n) => ({ n })),
    );
    const codes = await Promise.all(Array.from({ length: 30 }, () => refused({ dry_run: false, rate: 1 })));
    expect(codes.filter((code) => code === 'quota_exceeded')).to.have.length(10);
    for (const { id } of (await call('GET', replays(webhook))).body.data) {
      await call('POST', replays(webhook, `/${id}/cancel`));
    }
    expect(await refused({ dry_run: false })).to.equal(undefined);
  });

  it('GET /v1/webhooks/:id/requests filters by outcome and time', async () => {
    const webhook = await make();
    const [first, second, third] = await deliver(webhook, [{ n: 1 }, { n: 2, none: true }, { n: 3, throws: true }]);
    const path = `/v1/webhooks/${webhook.id}/requests`;
    const idsOf = async (query: string) =>
      (await call('GET', `${path}?${query}`)).body.data.map(({ id }: LoggedWebhook) => id);
    expect(await idsOf('outcome=ignored')).to.deep.equal([second]);
    expect(await idsOf('outcome=rejected')).to.deep.equal([third]);
    const all = (await call('GET', path)).body.data;
    const [, middle] = all;
    expect(await idsOf(`received_before=${middle.received_at}`)).to.deep.equal([first]);
    expect(await idsOf(`received_after=${middle.received_at}`)).to.deep.equal([third, second]);
  });
});

describe('A replay of webhook requests', () => {
  it('waits while the service sheds load, and continues afterwards', async () => {
    const service = await startService({ workers: 0, env: { WEBHOOK_LOG_SIZE: '1000', INGEST_BACKLOG_MAX: '20' } });
    const transform = 'const transform = () => null;';
    const { body } = await service.post('/v1/webhooks', { name: 'log', transform });
    const { id, url } = body.data;
    for (let n = 0; n < 200; n++) await request('POST', url, { body: '{}' });
    await service.waitFor(`/v1/webhooks/stats`, (response) => response.body.data[0]?.requests === 200);
    const draft = "const transform = () => ({ name: 'replay/slow', data: {} });";
    const started = await service.post(`/v1/webhooks/${id}/replays`, { draft, dry_run: false, rate: 100 });
    const path = `/v1/webhooks/${id}/replays/${started.body.data.replay.id}`;
    const waiting = await service.waitFor(path, (response) => response.body.data.waiting_for === 'backlog_full');
    expect(waiting.body.data.done).to.be.within(20, 199);
    await service.startWorker();
    const done = await service.waitFor(path, (response) => response.body.data.state === 'done');
    expect(done.body.data).to.include({ done: 200, failed: 0, skipped: 0, waiting_for: null });
    await service.stop();
  });

  it('makes each event once, even if its process is killed', async () => {
    const service = await startService({ processes: 'web', webs: 2, env: { WEBHOOK_LOG_SIZE: '1000' } });
    const transform = 'const transform = () => null;';
    const { body } = await service.post('/v1/webhooks', { name: 'log', transform });
    const { id, url } = body.data;
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) {
      const { headers } = await request('POST', url, { body: JSON.stringify({ n }) });
      ids.push(headers.get('x-request-id') as string);
    }
    await service.waitFor(`/v1/webhooks/stats`, (response) => response.body.data[0]?.requests === 60);
    const draft = "const transform = (evt) => ({ name: 'replay/once', data: evt });";
    const started = await service.post(`/v1/webhooks/${id}/replays`, { draft, dry_run: false, rate: 20 });
    const replayId = started.body.data.replay.id;
    const path = `/v1/webhooks/${id}/replays/${replayId}`;
    await service.waitFor(path, (response) => response.body.data.done >= 5);
    // Now both do, as if the first had not been able to renew its lock.
    await service.redis.del(service.keys.lock(`webhook-replay:${replayId}`));
    await service.waitFor(path, (response) => response.body.data.done >= 30);
    // Whichever works on it: one goes away after the other.
    const [first, second] = service.webs;
    await first?.kill();
    await service.redis.del(service.keys.lock(`webhook-replay:${replayId}`));
    await service.startWeb();
    await second?.kill();
    await service.redis.del(service.keys.lock(`webhook-replay:${replayId}`));
    const alive = service.urls.at(-1) as string;
    const get = async (at: string) => (await request('GET', alive + at)).body.data;
    await until(async () => (await get(path)).state === 'done', {
      describe: 'the replay is done',
    });
    expect(await get(path)).to.include({ done: 60, failed: 0, skipped: 0 });
    const made = await get(`${path}/results?status=done`);
    expect(made.map((result: { request_id: string }) => result.request_id)).to.deep.equal(ids);
    const events = await get('/v1/events?name=replay/once&limit=100');
    expect(
      events.map(({ data }: { data: { n: number } }) => data.n).sort((a: number, b: number) => a - b),
    ).to.deep.equal(ids.map((_, n) => n));
    await service.stop();
  });
});
