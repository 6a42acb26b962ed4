import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { FAKE_KEY, type FakeSentLists, startFakeSentLists, stripeItem } from '../support/fake-sent-lists.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;

describe('A webhook that is changed while it is reconciled', () => {
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

  const since = () => new Date(Date.now() - 2 * HOUR_MS).toISOString();

  async function create(): Promise<string> {
    const { status, body } = await service.post('/v1/webhooks', {
      ...{ name: 'stripe', provider: 'stripe', secrets: ['whsec_c2VjcmV0'] },
      transform: 'function transform(evt, headers, query, raw) { return { name: "sent/stripe", data: { raw } }; }',
      reconciliation: { key: FAKE_KEY, account: { endpoint: 'we_1Fake' }, api_url: fake.url },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data.id;
  }

  /** Reads the list up to the second page, for which the provider is waited for. @returns lets the provider respond */
  async function listed(id: string): Promise<() => void> {
    const start = Date.now() - HOUR_MS;
    fake.sent = Array.from({ length: 150 }, (_, n) => stripeItem(n, start + n * 5_000));
    const second = fake.sent.slice(0, 50).toReversed();
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    fake.respond = (_, response, url) => {
      if (!url.searchParams.has('starting_after')) return false;
      asked.resolve();
      const data = second.map(({ body }) => JSON.parse(body));
      void released.promise.then(() => response.writeHead(200).end(JSON.stringify({ has_more: false, data })));
      return true;
    };
    await service.post(`/v1/webhooks/${id}/reconcile`, { since: since() });
    await asked.promise;
    return released.resolve;
  }

  /** @returns how many of the keys about the webhook's reconciliation are there */
  async function stored(id: string): Promise<number> {
    const keys = service.keys.of(id);
    const own = [keys.webhookReconciliation(id), keys.webhookSent(id), keys.webhookRecovered(id)];
    const count = await service.redis.exists(...own, keys.webhookMissing(id), keys.webhookMissingDetails(id));
    const dueAt = await service.redis.zscore(service.keys.dueWebhookReconciliations, id);
    return count + (dueAt === null ? 0 : 1);
  }

  async function turnEnded(id: string): Promise<void> {
    const lock = service.keys.lock(`webhook-reconciliation:${id}`);
    await until(async () => (await service.redis.exists(lock)) === 0, { describe: 'the turn is over' });
  }

  /** Waits for the end of a comparison of the last two hours. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async function reconciled(id: string): Promise<any> {
    await service.post(`/v1/webhooks/${id}/reconcile`, { since: since() });
    const path = `/v1/webhooks/${id}/completeness`;
    return (await service.waitFor(path, ({ body: { data } }) => !data.is_running)).body.data;
  }

  it('counts nothing of the list of an account that it no longer names', async () => {
    const id = await create();
    const release = await listed(id);
    const reconciliation = { account: { endpoint: 'we_2Fake' } };
    expect((await service.request('PATCH', `/v1/webhooks/${id}`, { reconciliation })).status).to.equal(200);
    fake.sent = [];
    release();
    const { sent, received, missing, problem } = await reconciled(id);
    expect({ sent, received, missing, problem }).to.deep.equal({ sent: 0, received: 0, missing: 0, problem: null });
    expect((await service.get(`/v1/events?source=webhook:${id}`)).body.data.length).to.equal(0);
  });

  it('forgets what a process that did not know of the change has stored of the earlier list', async () => {
    const id = await create();
    await reconciled(id);
    const { webhookReconciliation, webhookMissing, webhookMissingDetails } = service.keys.of(id);
    await service.redis.hset(webhookReconciliation(id), 'since', Date.now() - HOUR_MS);
    await service.redis.zadd(webhookMissing(id), Date.now() - HOUR_MS, 'evt_other');
    await service.redis.hset(webhookMissingDetails(id), 'evt_other', '{"ref":"evt_other"}');
    // The service finds out in the next turn.
    await service.redis.zadd(service.keys.dueWebhookReconciliations, 0, id);
    await until(async () => (await service.redis.exists(webhookMissing(id))) === 0, { describe: 'it is forgotten' });
    expect((await reconciled(id)).missing).to.equal(0);
  });

  it('leaves nothing behind when it is deleted', async () => {
    const id = await create();
    const release = await listed(id);
    expect((await service.request('DELETE', `/v1/webhooks/${id}`)).status).to.equal(204);
    release();
    await turnEnded(id);
    expect(await stored(id)).to.equal(0);
  });

  it('makes no event of a request that is being fetched when it is deleted', async () => {
    const id = await create();
    fake.sent = [stripeItem(1_000, Date.now() - HOUR_MS)];
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    fake.respond = (_, response, { pathname }) => {
      if (!pathname.startsWith('/v1/events/')) return false;
      asked.resolve();
      void released.promise.then(() => response.writeHead(200).end(fake.sent[0]?.body));
      return true;
    };
    await service.post(`/v1/webhooks/${id}/reconcile`, { since: since() });
    await asked.promise;
    expect((await service.request('DELETE', `/v1/webhooks/${id}`)).status).to.equal(204);
    released.resolve();
    await turnEnded(id);
    expect(await stored(id)).to.equal(0);
    expect((await service.get(`/v1/events?source=webhook:${id}`)).body.data.length).to.equal(0);
  });

  it('leaves nothing behind, although a process that did not know it to be deleted has entered it again', async () => {
    await create();
    const id = newId();
    await service.redis.hset(service.keys.of(id).webhookReconciliation(id), 'dueAt', 0);
    await service.redis.zadd(service.keys.dueWebhookReconciliations, 0, id);
    await until(async () => (await stored(id)) === 0, { describe: 'it is forgotten' });
  });
});
