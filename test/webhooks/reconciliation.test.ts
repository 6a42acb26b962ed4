import { expect } from 'chai';
import Stripe from 'stripe';
import {
  FAKE_KEY,
  type FakeItem,
  type FakeSentLists,
  githubItem,
  headersOf,
  paddleItem,
  startFakeSentLists,
  stripeItem,
} from '../support/fake-sent-lists.ts';
import { type Service, startService } from '../support/service.ts';

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
        key: provider === 'paddle' ? `pdl_live_apikey_${FAKE_KEY}` : FAKE_KEY,
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
    const { status, body: answer } = await service.post(`/v1/webhooks/${id}/reconcile`, { since, ...body });
    expect(status, JSON.stringify(answer)).to.equal(202);
    const done = await service.waitFor(
      `/v1/webhooks/${id}/completeness?since=${since}`,
      ({ body: { data } }) =>
        !data.is_running || (data.problem !== null && data.problem.at !== answer.data.problem?.at),
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
    const isStored = async () => (await storedBodies(id)).length === 300;
    await service.waitFor(`/v1/webhooks/${id}`, () => true);
    while (!(await isStored())) await service.waitFor(`/v1/events?source=webhook:${id}`, () => true);
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
});
void [githubItem, paddleItem, Stripe];
