import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const THROWS = `function transform(evt) {
  if (evt.throws) throw new Error('no ' + evt.throws);
  return { name: 'issues/x', data: evt };
}`;
const MENDED = "const transform = (evt) => ({ name: 'issues/mended', data: evt });";
const SECRET = 'whsec_the_former_secret';
const STRIPE = { provider: 'stripe', secrets: [SECRET] };

function signedWith(secret: string, body: object): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', secret)
    .update(`${seconds}.${JSON.stringify(body)}`)
    .digest('hex');
  return { 'stripe-signature': `t=${seconds},v1=${signature}` };
}

interface Webhook {
  id: string;
  url: string;
}
// biome-ignore lint/suspicious/noExplicitAny: as the API responds
type Json = any;

const forms = [
  { title: 'Issues of webhooks', env: {} },
  { title: 'Issues of webhooks in four partitions', env: { PARTITIONS: '4' } },
];

for (const { title, env } of forms) {
  describe(title, () => {
    let service: Service;
    before(async () => {
      service = await startService({ env: { ...env, PUBLIC_URL: 'https://events.example.com' }, webs: 2 });
    });
    after(() => service.stop());

    const call = (method: string, path: string, body?: object) => service.request(method, path, body);

    async function make(fields: object = {}): Promise<Webhook> {
      const { status, body } = await call('POST', '/v1/webhooks', { name: 'watched', transform: THROWS, ...fields });
      expect(status, JSON.stringify(body)).to.equal(201);
      return body.data;
    }

    async function deliver({ url }: Webhook, body: object, headers: Record<string, string> = {}, web = 0) {
      const path = new URL(url).pathname;
      const response = await request('POST', service.urls[web] + path, { body: JSON.stringify(body), headers });
      return { status: response.status, id: response.headers.get('x-request-id') as string };
    }

    /** Resolves when it has so many failures. */
    const issueWith = async ({ id }: Webhook, count: number): Promise<Json> => {
      const { body } = await service.waitFor(`/v1/webhooks/${id}/issues`, ({ body }) => body.data[0]?.count === count);
      return body.data[0];
    };
    const told = async (webhook: Webhook, name = 'tidegate/webhook.failing'): Promise<Json[]> => {
      const { body } = await call('GET', `/v1/events?name=${name}&limit=100`);
      return body.data.filter(({ data }: Json) => data.webhook_id === webhook.id);
    };
    const toldOnce = (webhook: Webhook, times = 1) =>
      until(
        async () => {
          const events = await told(webhook);
          return events.length === times && events;
        },
        { describe: () => `the webhook is told of ${times} times` },
      );
    const change = async (issue: Json, action: string) => {
      const { status, body } = await call('POST', `/v1/webhook-issues/${issue.id}/${action}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.data;
    };

    const responds = (webhook: Webhook, status: number, web = 0) =>
      until(async () => (await deliver(webhook, { throws: '1' }, {}, web)).status === status, {
        describe: `the webhook responds with ${status}`,
      });

    it('the first failure of a transform opens an issue and sends an event, and further ones are counted', async () => {
      const webhook = await make();
      const { status, id } = await deliver(webhook, { throws: 'one \ud800' });
      expect(status).to.equal(400);
      const issue = await issueWith(webhook, 1);
      expect(issue).to.deep.include({
        webhook_id: webhook.id,
        webhook_name: 'watched',
        kind: 'transform',
        state: 'open',
        reasons: { transform_failed: 1 },
        times_reopened: 0,
        state_changed_by: null,
        replay_id: null,
      });
      expect(issue.sample).to.include({ request_id: id, reason: 'transform_failed' });
      expect(issue.sample.message).to.include('no one');
      expect(issue.first_seen).to.equal(issue.opened_at).and.to.equal(issue.last_seen);
      const [event] = await toldOnce(webhook);
      expect(event.data).to.deep.include({
        issue_id: issue.id,
        webhook_name: 'watched',
        kind: 'transform',
        reason: 'transform_failed',
        message: issue.sample.message,
        request_id: id,
        count: 1,
        first_seen: issue.first_seen,
        url: `https://events.example.com/webhooks/${webhook.id}`,
      });
      await deliver(webhook, { throws: 'two' });
      const later = await issueWith(webhook, 2);
      expect(later).to.deep.include({ id: issue.id, state: 'open', reasons: { transform_failed: 2 } });
      expect(later.sample.message).to.include('no two');
      expect(await told(webhook)).to.have.length(1);
    });

    it('two web processes that see the first failures at once announce them once', async () => {
      const webhook = await make();
      await Promise.all(Array.from({ length: 6 }, (_, n) => deliver(webhook, { throws: `${n}` }, {}, n % 2)));
      const issue = await issueWith(webhook, 6);
      expect(issue.times_reopened).to.equal(0);
      await toldOnce(webhook);
      const { body } = await call('GET', `/v1/webhook-issues?webhook_id=${webhook.id}`);
      expect(body.data).to.deep.equal([issue]);
    });

    it('a request that cannot be verified opens an issue with the part that did not match', async () => {
      const webhook = await make(STRIPE);
      const { status } = await deliver(webhook, {}, signedWith('whsec_another', {}));
      expect(status).to.equal(401);
      const issue = await issueWith(webhook, 1);
      expect(issue).to.deep.include({ kind: 'verification', reasons: { signature_mismatch: 1 } });
      expect(JSON.stringify(issue)).to.not.include(SECRET);
      await deliver(webhook, {});
      const later = await issueWith(webhook, 2);
      expect(later.reasons).to.deep.equal({ signature_mismatch: 1, signature_missing: 1 });
    });

    it('a failure after an issue was resolved reopens it and is announced again', async () => {
      const webhook = await make();
      await deliver(webhook, { throws: 'first' });
      const issue = await issueWith(webhook, 1);
      await toldOnce(webhook);
      const resolved = await change(issue, 'resolve');
      expect(resolved.state).to.equal('resolved');
      expect(resolved.state_changed_by).to.deep.equal({ kind: 'dev', id: 'dev', name: 'dev mode' });
      await deliver(webhook, { throws: 'second' });
      const reopened = await issueWith(webhook, 2);
      expect(reopened).to.include({ id: issue.id, state: 'open', times_reopened: 1, first_seen: issue.first_seen });
      expect(reopened.opened_at).to.equal(reopened.last_seen);
      expect(reopened.state_changed_by).to.equal(null);
      const events = await toldOnce(webhook, 2);
      expect(events.map(({ data }: Json) => data.times_reopened).sort()).to.deep.equal([0, 1]);
    });

    it('failures of an acknowledged or ignored issue are counted, but not announced', async () => {
      const webhook = await make();
      await deliver(webhook, { throws: '1' });
      const issue = await issueWith(webhook, 1);
      await toldOnce(webhook);
      for (const [i, action] of ['acknowledge', 'ignore'].entries()) {
        const { state } = await change(issue, action);
        await deliver(webhook, { throws: 'again' });
        expect(await issueWith(webhook, 2 + i)).to.include({ state, times_reopened: 0 });
      }
      expect(await told(webhook)).to.have.length(1);
      expect((await change(issue, 'reopen')).state).to.equal('open');
      const { body } = await call('GET', '/v1/audit?limit=5');
      const actions = body.data.map(({ action, target }: Json) => target === issue.id && action);
      expect(actions).to.include.members([
        'POST /v1/webhook-issues/:issue/reopen',
        'POST /v1/webhook-issues/:issue/ignore',
      ]);
    });

    it('issues are listed newest failure first, by state, kind and webhook, in pages', async () => {
      const made = [await make(), await make(STRIPE), await make()];
      const opened: Json[] = [];
      for (const [n, webhook] of made.entries()) {
        await deliver(webhook, { throws: `${n}` });
        opened.push(await issueWith(webhook, 1));
      }
      await change(opened[2], 'ignore');
      const ids = new Set(made.map(({ id }) => id));
      const list = async (query: string) => {
        const found: Json[] = [];
        for (let cursor = ''; ; ) {
          const { body } = await call('GET', `/v1/webhook-issues?${query}&limit=2${cursor}`);
          found.push(...body.data.filter(({ webhook_id }: Json) => ids.has(webhook_id)));
          if (!body.metadata.cursor) return found.map(({ id }) => id);
          cursor = `&cursor=${body.metadata.cursor}`;
        }
      };
      const [first, second, third] = opened.map(({ id }) => id);
      expect(await list('')).to.deep.equal([third, second, first]);
      expect(await list('state=open')).to.deep.equal([second, first]);
      expect(await list('state=open,ignored&kind=transform')).to.deep.equal([third, first]);
      expect(await list(`state=ignored&webhook_id=${made[0]?.id}`)).to.deep.equal([]);
      const { body } = await call('GET', '/v1/overview');
      expect(body.data.open_webhook_issues).to.be.at.least(2);
      const { body: bad, status } = await call('GET', '/v1/webhook-issues?state=closed');
      expect([status, bad.code]).to.deep.equal([400, 'input_invalid']);
    });

    it('an issue is deleted with its webhook', async () => {
      const webhook = await make();
      await deliver(webhook, { throws: '1' });
      const issue = await issueWith(webhook, 1);
      await toldOnce(webhook);
      expect((await call('DELETE', `/v1/webhooks/${webhook.id}`)).status).to.equal(204);
      expect((await call('GET', `/v1/webhook-issues/${issue.id}`)).status).to.equal(404);
      expect((await call('GET', '/v1/webhook-issues/nothing')).status).to.equal(404);
      expect(await service.redis.keys(`*${webhook.id}*`)).to.deep.equal([]);
    });

    it('requests to a paused webhook do not count as failures', async () => {
      const webhook = await make();
      await call('POST', `/v1/webhooks/${webhook.id}/pause`);
      await responds(webhook, 503);
      await responds(webhook, 503, 1);
      await call('POST', `/v1/webhooks/${webhook.id}/resume`);
      await responds(webhook, 400);
      const issue = await issueWith(webhook, 1);
      expect(issue.reasons).to.deep.equal({ transform_failed: 1 });
    });

    it('the replay of an issue makes the events of failed requests once the transform is fixed', async () => {
      const webhook = await make();
      await deliver(webhook, { n: 0 });
      const failed = [await deliver(webhook, { n: 1, throws: 'a' }), await deliver(webhook, { n: 2, throws: 'b' })];
      const issue = await issueWith(webhook, 2);
      await service.waitFor(`/v1/webhooks/${webhook.id}/requests/${failed[1]?.id}`, ({ status }) => status === 200);
      await call('PATCH', `/v1/webhooks/${webhook.id}`, { transform: MENDED });
      const replay = `/v1/webhook-issues/${issue.id}/replay`;
      const dry = (await call('POST', replay, {})).body.data;
      expect(dry.dry_run.total).to.equal(2);
      expect(dry.dry_run.sample.map(({ request_id, change }: Json) => [request_id, change])).to.deep.equal(
        failed.map(({ id }) => [id, 'new_event']).reverse(),
      );
      const { replay: started } = (await call('POST', replay, { dry_run: false, rate: 1 })).body.data;
      expect(started).to.deep.include({
        outcomes: ['rejected'],
        reasons: ['transform_failed', 'filter_failed'],
        total: 2,
      });
      const again = (await call('POST', replay, { dry_run: false })).body.data.replay;
      expect(again.id, 'one at a time').to.equal(started.id);
      expect((await issueWith(webhook, 2)).replay_id).to.equal(started.id);
      const ofReplay = `/v1/webhooks/${webhook.id}/replays/${started.id}`;
      const { body } = await service.waitFor(ofReplay, ({ body }) => body.data.ended_at !== null);
      expect(body.data).to.include({ done: 2, failed: 0, skipped: 0 });
      await until(
        async () => {
          const events = (await call('GET', '/v1/events?name=issues/mended')).body.data;
          return events.filter(({ source }: Json) => source === `webhook:${webhook.id}`).length === 2;
        },
        { describe: 'both events are there' },
      );
      expect((await change(issue, 'resolve')).state).to.equal('resolved');
    });

    it('the replay of an issue verifies requests again with the present secret', async () => {
      const webhook = await make({ ...STRIPE, transform: MENDED });
      const body = { n: 1 };
      const { status, id } = await deliver(webhook, body, signedWith('whsec_new', body));
      expect(status).to.equal(401);
      await deliver(webhook, body, signedWith('whsec_wrong', body));
      const issue = await issueWith(webhook, 2);
      await service.waitFor(`/v1/webhooks/${webhook.id}/requests`, ({ body }) => body.data.length === 2);
      await call('POST', `/v1/webhooks/${webhook.id}/secrets`, { secret: 'whsec_new' });
      const { replay } = (await call('POST', `/v1/webhook-issues/${issue.id}/replay`, { dry_run: false })).body.data;
      const ofReplay = `/v1/webhooks/${webhook.id}/replays/${replay.id}`;
      const ended = await service.waitFor(ofReplay, ({ body }) => body.data.ended_at !== null);
      expect(ended.body.data).to.include({ total: 2, done: 1, failed: 1 });
      const results = (await call('GET', `${ofReplay}/results?status=done`)).body.data;
      expect(results.map(({ request_id }: Json) => request_id)).to.deep.equal([id]);
    });

    it('a replay since the issue was reopened leaves out what failed before it was resolved', async () => {
      const webhook = await make();
      await deliver(webhook, { throws: 'before' });
      const issue = await issueWith(webhook, 1);
      await change(issue, 'resolve');
      const { id } = await deliver(webhook, { throws: 'after' });
      await issueWith(webhook, 2);
      await service.waitFor(`/v1/webhooks/${webhook.id}/requests/${id}`, ({ status }) => status === 200);
      const replay = async (since?: string) =>
        (await call('POST', `/v1/webhook-issues/${issue.id}/replay`, { ...(since && { since }) })).body.data.dry_run;
      const { sample, total } = await replay();
      expect([total, sample[0].request_id]).to.deep.equal([1, id]);
      expect((await replay('first_seen')).total).to.equal(2);
    });
  });
}

describe('Issues of webhooks', () => {
  it('are announced by a worker if their web process was killed before it announced them', async () => {
    const service = await startService({ processes: 'web' });
    try {
      const { body } = await service.post('/v1/webhooks', { name: 'watched', transform: THROWS });
      const { id } = body.data;
      const key = service.keys.of(id).webhookIssueNotifications;
      // As the web process leaves it behind.
      const store = await openStore(service.prefix);
      const at = Date.now() - 10_000;
      const sample = { requestId: newId(), reason: 'transform_failed', message: 'no', at };
      const failures = { firstAt: at, lastAt: at, count: 1, reasons: { transform_failed: 1 }, sample };
      const { id: issue } = await store.webhookIssues.record({ webhookId: id, kind: 'transform', ...failures }, at);
      await store.redis.quit();
      await service.killWeb();
      await until(async () => (await service.redis.zcard(key)) === 0, { describe: 'no notification is pending' });
      await service.startWeb();
      const [, web] = service.urls;
      const { data } = (await request('GET', `${web}/v1/events?name=tidegate/webhook.failing`)).body as Json;
      expect(data.map((event: Json) => [event.data.issue_id, event.data.request_id])).to.deep.equal([
        [issue, sample.requestId],
      ]);
    } finally {
      await service.stop().catch(() => {});
    }
  });

  it('trigger functions even without a request log, and no sender can forge their event', async () => {
    const service = await startService({ env: { WEBHOOK_LOG_SIZE: '0' } });
    const host = await startAppHost();
    try {
      host.on('hears', () => ({ status: 200, body: null }));
      await host.register(service, [{ id: 'hears', triggers: [{ event: 'tidegate/webhook.failing' }] }]);
      const { status, body } = await service.post('/e/key', { name: 'tidegate/webhook.failing', data: {} });
      expect([status, body.code]).to.deep.equal([400, 'event_invalid']);
      const transform = "const transform = () => ({ name: 'tidegate/webhook.failing', data: {} });";
      const webhook = (await service.post('/v1/webhooks', { name: 'forges', environment: 'branches', transform })).body
        .data;
      const response = await request('POST', `${webhook.url}?x-service-env=a-branch`, { body: '{}' });
      expect([response.status, response.body.code]).to.deep.equal([400, 'transform_failed']);
      const { event } = (await host.nextCall('hears')).body;
      expect(event.name).to.equal('tidegate/webhook.failing');
      expect(event.data).to.include({ webhook_id: webhook.id, webhook_name: 'forges', url: null });
    } finally {
      await host.close();
      await service.stop();
    }
  });
});
