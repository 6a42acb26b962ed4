import { type Environment, Paddle } from '@paddle/paddle-node-sdk';
import { expect } from 'chai';
import Stripe from 'stripe';
import { readConfig } from '../../src/config.ts';
import { ProviderClient, type ProviderUnreachable } from '../../src/functions/provider-client.ts';
import { startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import {
  FAKE_KEY,
  FAKE_PADDLE_KEY,
  type FakeItem,
  type FakeSentLists,
  githubItem,
  headersOf,
  paddleItem,
  startFakeSentLists,
  stripeItem,
} from '../support/fake-sent-lists.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SECRETS = { stripe: 'whsec_c2VjcmV0', github: 'a-long-random-text', paddle: 'pdl_ntfset_01secret' };
type Provider = keyof typeof SECRETS;

describe('Reconciliation of webhooks', () => {
  let service: Service;
  let fake: FakeSentLists;
  before(async () => {
    [service, fake] = await Promise.all([startService(), startFakeSentLists()]);
  });
  after(async () => {
    await service.stop();
    await fake.close();
  });
  beforeEach(() => fake.reset());

  const ACCOUNTS = {
    stripe: { endpoint: 'we_1Fake' },
    github: { repository: 'octo/harbour', hook: '7' },
    paddle: { destination: 'ntfset_01fake' },
  };

  async function create(provider: Provider, more: object = {}): Promise<{ id: string; url: string }> {
    const { status, body } = await service.post('/v1/webhooks', {
      name: provider,
      provider,
      secrets: [SECRETS[provider]],
      // Each test has its own IDs of events.
      transform: `function transform(evt, headers, query, raw) { return { name: "sent/${provider}", data: { raw } }; }`,
      reconciliation: {
        key: provider === 'paddle' ? FAKE_PADDLE_KEY : FAKE_KEY,
        account: ACCOUNTS[provider],
        api_url: fake.url,
      },
      ...more,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  async function send(provider: Provider, url: string, item: FakeItem): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: headersOf(provider, SECRETS[provider], item),
      body: item.body,
    });
    expect(response.status, await response.text()).to.equal(200);
  }

  /** Reconciles, and waits for the end. @returns the completeness */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async function reconcile(id: string, body: object = {}): Promise<any> {
    const since = new Date(Date.now() - 2 * HOUR_MS).toISOString();
    const { status, body: responseBody } = await service.post(`/v1/webhooks/${id}/reconcile`, { since, ...body });
    expect(status, JSON.stringify(responseBody)).to.equal(202);
    const done = await service.waitFor(
      `/v1/webhooks/${id}/completeness?since=${since}`,
      ({ body: { data } }) =>
        !data.is_running || (data.problem !== null && data.problem.at !== responseBody.data.problem?.at),
    );
    return done.body.data;
  }

  /** Bodies of the stored events, oldest first. */
  async function storedBodies(webhookId: string): Promise<string[]> {
    const bodies: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await service.get(
        `/v1/events?source=webhook:${webhookId}&limit=100${cursor && `&cursor=${cursor}`}`,
      );
      for (const { data } of body.data) bodies.push(data.raw);
      if (!body.metadata.cursor) return bodies.reverse();
      cursor = body.metadata.cursor;
    }
  }

  it('a provider that drops 3 % of its requests and repeats 2 % is complete after the next round, each event once', async () => {
    const { id, url } = await create('stripe');
    const start = Date.now() - HOUR_MS;
    fake.sent = Array.from({ length: 300 }, (_, n) => stripeItem(n, start + n * 5_000));
    const dropped = fake.sent.filter((_, n) => n % 33 === 7);
    for (const [n, item] of fake.sent.entries()) {
      if (dropped.includes(item)) continue;
      await send('stripe', url, item);
      if (n % 50 === 3) await send('stripe', url, item);
    }
    const completeness = await reconcile(id);
    const { sent, received, recovered, missing, complete_since, since, problem } = completeness;
    expect({ sent, received, recovered, missing, problem }).to.deep.equal({
      sent: 300,
      received: 300 - dropped.length,
      recovered: dropped.length,
      missing: 0,
      problem: null,
    });
    expect(complete_since).to.equal(since);
    await until(async () => (await storedBodies(id)).length === 300, { describe: 'all events are stored' });
    const bodies = await storedBodies(id);
    expect(bodies.toSorted()).to.deep.equal(fake.sent.map(({ body }) => body).toSorted());
    expect(
      bodies.filter((body) => dropped.some((item) => item.body === body)),
      'in order',
    ).to.deep.equal(dropped.map(({ body }) => body));

    const again = await reconcile(id);
    expect([again.sent, again.received, again.recovered, again.missing]).to.deep.equal([300, received, recovered, 0]);
    expect(await storedBodies(id)).to.have.length(300);
  });

  it('a recovered request of an ordered webhook takes its place in the lane, or is superseded by what ran before it came', async () => {
    const host = await startAppHost();
    try {
      const waiting: (() => void)[] = [];
      host.on('f', () => new Promise((resolve) => waiting.push(() => resolve({ status: 200, body: null }))));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'ordered/x' }] }], { appName: 'ordered' });
      const { id, url } = await create('stripe', {
        transform: 'function transform(evt) { return { name: "ordered/x", data: { id: evt.id, at: evt.created } }; }',
        order: { key: '"all"', by: 'event.data.at', on_stale: 'skip' },
      });
      const nextId = async () => (await host.nextCall('f')).body.event.data.id as string;
      const finish = async () => {
        await until(() => waiting.length > 0, { describe: 'a call waits for its response' });
        waiting.shift()?.();
      };
      const start = Date.now() - HOUR_MS;
      fake.sent = Array.from({ length: 5 }, (_, n) => stripeItem(900 + n, start + n * MINUTE_MS));
      const [first, second, third, fourth, fifth] = fake.sent as [FakeItem, FakeItem, FakeItem, FakeItem, FakeItem];
      fake.sent = [first, second, third];
      await send('stripe', url, first);
      expect(await nextId()).to.equal(first.id);
      await send('stripe', url, third);
      await reconcile(id);
      await finish();
      expect(await nextId()).to.equal(second.id);
      await finish();
      expect(await nextId()).to.equal(third.id);
      await finish();
      await service.waitFor('/v1/functions/ordered-f/lanes', ({ body }) => body.data.length === 0);

      fake.sent.push(fourth, fifth);
      await send('stripe', url, fifth);
      expect(await nextId()).to.equal(fifth.id);
      const { recovered, missing } = await reconcile(id);
      expect([recovered, missing]).to.deep.equal([2, 0]);
      const { body } = await service.waitFor(
        `/v1/events?source=webhook:${id}&limit=1`,
        ({ body: { data } }) => data[0].data.id === fourth.id,
      );
      const decisions = await service.waitFor(
        `/v1/events/${body.data[0].internal_id}/decisions`,
        (reply) => reply.body.data.length > 0,
      );
      expect(decisions.body.data[0]).to.include({ outcome: 'skipped', reason: 'superseded' });
      await finish();
    } finally {
      await host.close();
    }
  });

  it('the official SDKs of Stripe and Paddle read the fakes of these tests', async () => {
    const start = Date.now() - HOUR_MS;
    fake.sent = Array.from({ length: 130 }, (_, n) => stripeItem(n, start + n * 1_000));
    const [, host = '', port = ''] = /^http:\/\/(.+):(\d+)$/.exec(fake.url) ?? [];
    const stripe = new Stripe(FAKE_KEY, { host, port: Number(port), protocol: 'http', telemetry: false });
    const created = { gte: Math.floor(start / 1_000), lte: Math.ceil(Date.now() / 1_000) };
    const events = await stripe.events.list({ limit: 100, created }).autoPagingToArray({ limit: 1_000 });
    expect(events.map(({ id }) => id)).to.deep.equal(fake.sent.map(({ id }) => id).reverse());
    expect((await stripe.events.retrieve(fake.sent[5]?.id ?? '')).id).to.equal(fake.sent[5]?.id);

    fake.sent = Array.from({ length: 130 }, (_, n) => paddleItem(n, start + n * 1_000));
    const paddle = new Paddle(FAKE_PADDLE_KEY, { environment: fake.url as Environment });
    const span = { from: new Date(start).toISOString(), to: new Date().toISOString(), perPage: 100 };
    const notifications: string[] = [];
    for await (const { payload } of paddle.notifications.list(span)) notifications.push(payload?.eventId ?? '');
    expect(notifications).to.deep.equal(fake.sent.map(({ id }) => id).reverse());
  });

  it('a request of GitHub and one of Paddle is recovered with the headers and the body that it would have had', async () => {
    const start = Date.now() - HOUR_MS;
    for (const provider of ['github', 'paddle'] as const) {
      const item = provider === 'github' ? githubItem : paddleItem;
      fake.sent = Array.from({ length: 120 }, (_, n) => item(n, start + n * 1_000));
      const { id, url } = await create(provider, {
        transform: `function transform(evt, headers, query, raw) {
          return { name: "sent/${provider}", data: { raw, event: headers["X-Github-Event"] } };
        }`,
      });
      for (const sent of fake.sent.slice(1)) await send(provider, url, sent);
      const { sent, recovered, missing } = await reconcile(id);
      expect({ sent, recovered, missing }, provider).to.deep.equal({ sent: 120, recovered: 1, missing: 0 });
      const { body } = await service.waitFor(
        `/v1/webhooks/${id}/requests?limit=1`,
        ({ body: { data } }) => data[0]?.recovered,
      );
      const [logged] = body.data;
      expect(logged.verification.result, provider).to.equal('verified');
      const { data } = (await service.stored(logged.ids[0])).body.data;
      expect(data.raw, provider).to.equal(fake.sent[0]?.body);
      expect(data.event ?? null).to.equal(provider === 'github' ? 'push' : null);
    }
  });

  it('GitHub is asked to deliver again what is missing, and what then comes is no longer missing', async () => {
    const { id, url } = await create('github');
    fake.sent = [githubItem(900, Date.now() - HOUR_MS)];
    const asked = await reconcile(id, { redeliver: true });
    expect([asked.missing, asked.reasons]).to.deep.equal([1, { redelivery_asked: 1 }]);
    expect(fake.redelivered).to.deep.equal([fake.sent[0]?.id]);
    await send('github', url, fake.sent[0] as FakeItem);
    const { received, recovered, missing } = await reconcile(id);
    expect({ received, recovered, missing }).to.deep.equal({ received: 1, recovered: 0, missing: 0 });
  });

  it('a request that the transform rejects stays missing with its reason, and is recovered after the transform is mended', async () => {
    const { id } = await create('stripe', { transform: 'function transform(evt) { throw new Error("not yet"); }' });
    fake.sent = [stripeItem(5_000, Date.now() - 2 * MINUTE_MS), stripeItem(5_001, Date.now() - HOUR_MS)];
    const refused = await reconcile(id);
    expect([refused.missing, refused.reasons]).to.deep.equal([2, { transform_failed: 2 }]);
    expect(refused.missing_requests[0]).to.deep.include({ id: fake.sent[1]?.id, reason: 'transform_failed' });
    expect(refused.complete_since > refused.since, 'complete only after the last one').to.equal(true);
    const transform = 'function transform(evt) { return { name: "sent/mended", data: {} }; }';
    expect((await service.request('PATCH', `/v1/webhooks/${id}`, { transform })).status).to.equal(200);
    expect((await reconcile(id)).recovered).to.equal(2);
  });

  it('the command line reconciles, and exits with 1 while something is missing', async () => {
    const { id } = await create('stripe', { transform: 'function transform() { throw new Error("not yet"); }' });
    fake.sent = [stripeItem(5_500, Date.now() - HOUR_MS)];
    const refused = await cli(['webhooks', 'reconcile', id, '--since', '2h'], { service });
    expect(refused.exitCode, refused.stderr).to.equal(1);
    expect(refused.stdout)
      .to.match(/^Not complete since \S+: 1 sent, 0 came, 0 recovered, 1 missing$/m)
      .and.match(/^evt_1Fake005500 .* transform_failed /m);
    const transform = 'function transform() { return { name: "sent/mended", data: {} }; }';
    await service.request('PATCH', `/v1/webhooks/${id}`, { transform });
    const { stdout } = await cliOk(['webhooks', 'reconcile', id, '--since', '2h'], { service });
    expect(stdout).to.match(/^Complete since \S+: 1 sent, 0 came, 1 recovered, 0 missing$/m);
    const { json } = await cliOk(['webhooks', 'completeness', id, '--json'], { service });
    expect([json.sent, json.recovered]).to.deep.equal([1, 1]);
  });

  it('events of types that the endpoint of Stripe does not get are not missing', async () => {
    const { id } = await create('stripe');
    const at = Date.now() - HOUR_MS;
    fake.types = ['invoice.paid'];
    fake.sent = [stripeItem(6_000, at, 'customer.created'), stripeItem(6_001, at)];
    const { sent, recovered } = await reconcile(id);
    expect({ sent, recovered }).to.deep.equal({ sent: 1, recovered: 1 });
  });

  it('a provider that limits requests is asked again when it said, and one that fails when somebody asks', async () => {
    const { id } = await create('stripe');
    fake.sent = [stripeItem(7_000, Date.now() - HOUR_MS)];
    let limited = 0;
    fake.respond = (_, response, { pathname }) => {
      if (pathname !== '/v1/events' || limited++ > 0) return false;
      response.writeHead(429, { 'retry-after': '2' }).end('{}');
      return true;
    };
    const before = Date.now();
    const { problem, next_at } = await reconcile(id);
    expect(problem.reason).to.equal('rate_limited');
    expect(Date.parse(next_at)).to.be.at.least(before + 2_000);
    await service.post(`/v1/webhooks/${id}/reconcile`, {});
    await service.waitFor(
      `/v1/webhooks/${id}/completeness`,
      ({ body: { data } }) => data.recovered === 1 && !data.is_running,
    );
    expect(Date.now()).to.be.at.least(before + 2_000);

    fake.respond = (_, response) => Boolean(response.writeHead(500).end('no JSON'));
    expect((await reconcile(id)).problem.reason).to.equal('provider_failed');
    fake.respond = undefined;
    expect((await reconcile(id)).problem).to.equal(null);
  });

  it('a wrong key is told, never shown, and replaced by the next one at once', async () => {
    const { id } = await create('stripe', {
      reconciliation: { key: 'rk_test_wrong', account: ACCOUNTS.stripe, api_url: fake.url },
    });
    expect((await reconcile(id)).problem.reason).to.equal('key_rejected');
    const { body } = await service.request('PATCH', `/v1/webhooks/${id}`, { reconciliation: { key: FAKE_KEY } });
    expect(body.data.reconciliation).to.deep.include({ account: ACCOUNTS.stripe, api_url: fake.url });
    expect(JSON.stringify(body)).not.to.include(FAKE_KEY);
    const redis = await service.redis.hget(service.keys.webhooks, id);
    expect(redis).not.to.include(FAKE_KEY);
    await service.waitFor(
      `/v1/webhooks/${id}/completeness`,
      ({ body: { data } }) => data.problem === null && !data.is_running,
    );
  });

  it('a list that lies is bounded and told: pages in a circle, without an end, items with other IDs, in no span', async () => {
    const { id } = await create('stripe');
    const at = Date.now() - HOUR_MS;
    const page = (...items: FakeItem[]) =>
      JSON.stringify({ has_more: true, data: items.map(({ body }) => JSON.parse(body)) });
    const lists = (bodyOf: (asked: number) => string) => {
      let asked = 0;
      fake.respond = (_, response, { pathname }) =>
        pathname === '/v1/events' && Boolean(response.writeHead(200).end(bodyOf(asked++)));
    };
    lists((n) => page(stripeItem(8_000 + (n % 3), at)));
    expect((await reconcile(id)).problem.reason).to.equal('list_circular');
    fake.asked.length = 0;
    lists((n) => page(stripeItem(10_000 + n, at)));
    fake.sent = Array.from({ length: 300 }, (_, n) => stripeItem(10_000 + n, at));
    const endless = await reconcile(id);
    expect(endless.problem.reason).to.equal('list_endless');
    expect(fake.asked.filter((path) => path.startsWith('/v1/events?')).length).to.be.below(300);

    const strange = { ...stripeItem(1, at), body: JSON.stringify({ id: '../../v1/charges', created: 1, type: 'x' }) };
    lists(() => page(strange, stripeItem(9_000, at - 24 * HOUR_MS)).replace('true', 'false'));
    const { id: other } = await create('stripe');
    const told = await reconcile(other);
    expect([told.problem.reason, told.sent]).to.deep.equal(['items_invalid', 0]);

    const honest = stripeItem(9_001, at);
    fake.sent = [honest];
    fake.respond = (_, response, { pathname }) =>
      pathname === `/v1/events/${honest.id}` && Boolean(response.writeHead(200).end(stripeItem(9_002, at).body));
    expect((await reconcile(other)).reasons).to.deep.equal({ other_request: 1 });
  });

  it('a list that has nothing of what came is told, and nothing of it is recovered', async () => {
    const { id } = await create('stripe');
    const at = Date.now() - HOUR_MS;
    const came = [1, 2, 3].flatMap((n) => [at + n, `evt_own${n}`]);
    await service.redis.zadd(service.keys.of(id).webhookCame(id), ...came);
    fake.sent = [1, 2, 3, 4].map((n) => stripeItem(9_700 + n, at + n));
    const { problem, recovered } = await reconcile(id);
    expect([problem.reason, recovered]).to.deep.equal(['list_of_others', 0]);
    expect((await storedBodies(id)).length).to.equal(0);
  });

  it('a provider is not waited for without end, nor read without end, nor followed elsewhere, nor called at forbidden addresses', async () => {
    const { outbound } = readConfig({ MODE: 'dev' });
    const [client, patient] = [new ProviderClient(outbound, 300), new ProviderClient(outbound)];
    const strict = new ProviderClient({ ...outbound, blockPrivate: true });
    const reasonOf = (asked: Promise<unknown>) =>
      asked.then(
        () => 'none',
        (error: ProviderUnreachable) => error.reason,
      );
    try {
      fake.respond = (_, response) => response.writeHead(200).write('{"data": [');
      expect(await reasonOf(client.send('GET', fake.url, {}))).to.equal('provider_silent');
      fake.respond = (_, response) => {
        const more = () => response.write(Buffer.alloc(4 * 1_048_576), () => response.destroyed || more());
        more();
        return true;
      };
      expect(await reasonOf(patient.send('GET', fake.url, {}))).to.equal('response_too_large');
      fake.respond = (_, response) => Boolean(response.writeHead(302, { location: 'https://example.com/' }).end());
      expect((await patient.send('GET', fake.url, { authorization: 'Bearer x' })).status).to.equal(302);
      expect(await reasonOf(strict.send('GET', fake.url, {}))).to.equal('address_blocked');
    } finally {
      await Promise.all([client, patient, strict].map((item) => item.close()));
    }
  });

  it('after an outage of the service, all that was sent meanwhile is compared as soon as it has settled', async () => {
    const { id } = await create('stripe');
    await reconcile(id);
    await service.redis.set(service.keys.webhookReconciliationAlive, Date.now() - 5 * MINUTE_MS);
    const { body } = await service.waitFor(
      `/v1/webhooks/${id}/completeness`,
      ({ body: { data } }) => data.last_outage !== null,
    );
    const { last_outage, next_at } = body.data;
    expect(Date.parse(last_outage.to) - Date.parse(last_outage.from)).to.be.at.least(5 * MINUTE_MS);
    expect(Date.parse(next_at) - Date.parse(last_outage.to)).to.equal(MINUTE_MS);
    fake.sent = [stripeItem(9_500, Date.now() - 3 * MINUTE_MS)];
    // As if that minute was over.
    await service.redis.zadd(service.keys.dueWebhookReconciliations, 0, id);
    await service.waitFor(`/v1/webhooks/${id}/completeness`, ({ body: { data } }) => data.recovered === 1);
  });

  it('a webhook of a provider without a list, or without its account, cannot be given a key', async () => {
    const inputs = [
      { provider: 'twilio', reconciliation: { key: 'x', account: {} } },
      { provider: 'stripe', reconciliation: { key: FAKE_KEY } },
      { provider: 'github', reconciliation: { key: 'x', account: { repository: '../..', hook: '7' } } },
      {
        provider: 'github',
        reconciliation: { key: 'x', account: { organization: 'octo', repository: 'octo/x', hook: '7' } },
      },
      { provider: 'stripe', reconciliation: { key: 'sk_wrong', account: ACCOUNTS.stripe } },
    ];
    for (const input of inputs) {
      const { status, body } = await service.post('/v1/webhooks', { name: 'no list', ...input });
      expect(status, JSON.stringify(input)).to.equal(400);
      expect(body.error).to.include('"reconciliation');
    }
    const { body } = await service.post('/v1/webhooks', { name: 'plain' });
    expect((await service.get(`/v1/webhooks/${body.data.id}/completeness`)).body.code).to.equal('input_invalid');
  });
});
