import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('A service with an archive', () => {
  let service: Service;
  before(async () => {
    service = await startService({
      processes: 'worker',
      archive: true,
      env: { WEBHOOK_LOG_SIZE: '5', HOT_HOURS: '1' },
    });
  });
  after(() => service.stop());

  it('archives the requests of a webhook, shows them all, and replays them', async () => {
    const transform = "const transform = (evt) => evt.n % 2 ? null : { name: 'archived/x', data: evt };";
    const { id, url } = (await service.post('/v1/webhooks', { name: 'log', transform })).body.data;
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) {
      const { headers } = await request('POST', url, { body: JSON.stringify({ n }) });
      ids.push(headers.get('x-request-id') as string);
    }
    await service.waitFor(`/v1/webhooks/${id}/requests/${ids.at(-1)}`, ({ status }) => status === 200);
    const { webhookLog } = service.keys.of(id);
    await until(async () => (await service.redis.zcard(webhookLog(id))) === 5, {
      describe: 'Redis has the newest only',
    });
    const listed = (await service.get(`/v1/webhooks/${id}/requests?limit=100`)).body.data;
    expect(listed.map((item: { id: string }) => item.id)).to.deep.equal(ids.toReversed());
    const path = `/v1/webhooks/${id}/requests/${ids[0]}`;
    expect((await service.get(path)).body.data.body).to.deep.equal({ encoding: 'utf8', content: '{"n":0}' });
    const stats = (await service.get('/v1/webhooks/stats')).body.data[0];
    expect(stats).to.include({ requests: 20, rejected: 0 });
    const rerun = await service.post(`${path}/rerun`, {});
    expect(rerun.body.data.event).to.deep.include({ name: 'archived/x', data: { n: 0 } });
    const draft = "const transform = (evt) => ({ name: 'archived/replayed', data: evt });";
    const options = { draft, outcomes: ['ignored'] };
    const { dry_run } = (await service.post(`/v1/webhooks/${id}/replays`, options)).body.data;
    expect(dry_run.total).to.equal(10);
    expect(dry_run.sample.map(({ change }: { change: string }) => change)).to.deep.equal(Array(10).fill('new_event'));
    const started = await service.post(`/v1/webhooks/${id}/replays`, { ...options, dry_run: false, rate: 100 });
    const replay = `/v1/webhooks/${id}/replays/${started.body.data.replay.id}`;
    const ended = await service.waitFor(replay, ({ body }) => body.data.state === 'done');
    expect(ended.body.data).to.include({ done: 10, failed: 0, skipped: 0 });
    const done = (await service.get(`${replay}/results?status=done`)).body.data;
    expect(done.map((result: { request_id: string }) => result.request_id)).to.deep.equal(ids.filter((_, n) => n % 2));
  });

  it('hides the requests of a deleted webhook', async () => {
    const { id, url } = (await service.post('/v1/webhooks', { name: 'gone' })).body.data;
    const { body, headers } = await request('POST', url, { body: '{}' });
    const requestId = headers.get('x-request-id');
    await service.waitFor(`/v1/webhooks/${id}/requests/${requestId}`, ({ status }) => status === 200);
    await service.request('DELETE', `/v1/webhooks/${id}`);
    expect((await service.get(`/v1/webhooks/${id}/requests`)).status).to.equal(404);
    const { request: provenance } = (await service.get(`/v1/events/${body.ids[0]}/arrival`)).body.data;
    expect(provenance).to.equal(null);
    const { removedWebhooks } = service.keys;
    await until(async () => (await service.redis.hlen(removedWebhooks)) === 0, { describe: 'the archive knows' });
    expect((await service.get(`/v1/events/${body.ids[0]}/arrival`)).body.data.request).to.equal(null);
  });

  it('archives each request once when its worker is killed and another one continues', async () => {
    const { id, url } = (await service.post('/v1/webhooks', { name: 'killed' })).body.data;
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) {
      if (n === 20) await service.killWorker();
      if (n === 40) await service.startWorker();
      const { headers } = await request('POST', url, { body: JSON.stringify({ n }) });
      ids.push(headers.get('x-request-id') as string);
    }
    await service.waitFor(`/v1/webhooks/${id}/requests/${ids.at(-1)}`, ({ status }) => status === 200);
    const { webhookLog, unarchivedRequests } = service.keys.of(id);
    // Longer than the leases of the one that was killed.
    await until(async () => (await service.redis.zcard(webhookLog(id))) === 5, {
      describe: 'Redis has the newest only',
      timeoutMs: 60_000,
    });
    expect(await service.redis.exists(unarchivedRequests(id))).to.equal(0);
    const listed = (await service.get(`/v1/webhooks/${id}/requests?limit=100`)).body.data;
    expect(listed.map((item: { id: string }) => item.id)).to.deep.equal(ids.toReversed());
    const stats = (await service.get('/v1/webhooks/stats')).body.data;
    expect(stats.find((stat: { webhook_id: string }) => stat.webhook_id === id)).to.include({ requests: 60 });
  });

  it('archives the audit log', async () => {
    const { auditLogArchived } = service.keys;
    const { id } = (await service.get('/v1/audit?limit=1')).body.data[0];
    await until(async () => (await service.redis.get(auditLogArchived)) === id, { describe: 'the entry is archived' });
    const before = (await service.get('/v1/audit?limit=100')).body.data;
    await service.redis.xtrim(service.keys.auditLog, 'MAXLEN', 1);
    expect((await service.get('/v1/audit?limit=100')).body.data).to.deep.equal(before);
  });
});
