import { expect } from 'chai';
import type { ReconciliationPass, ReconciliationState } from '../../src/store/webhooks/reconciliation-state.ts';
import { FAKE_KEY, type FakeSentLists, startFakeSentLists, stripeItem } from '../support/fake-sent-lists.ts';
import { type Service, startService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SENT = 150;
const FIRST_PAGE = 100;

describe('A reconciliation that was interrupted between two pages', () => {
  let service: Service;
  let fake: FakeSentLists;
  before(async () => {
    [service, fake] = await Promise.all([startService(), startFakeSentLists()]);
  });
  after(async () => {
    await service.stop();
    await fake.close();
  });
  /** Each test has its own IDs of events. */
  let firstNumber = 0;
  beforeEach(() => {
    fake.reset();
    firstNumber += SENT;
  });

  const since = () => new Date(Date.now() - 2 * HOUR_MS).toISOString();

  async function completeness(id: string, of: string, isThere: (data: Completeness) => boolean): Promise<Completeness> {
    const { body } = await service.waitFor(`/v1/webhooks/${id}/completeness?since=${of}`, ({ body: { data } }) =>
      isThere(data),
    );
    return body.data;
  }

  /** Responds with an error to each request for a page after the first one. */
  function refusesMore(status: number, isRefused: () => boolean = () => true): void {
    fake.respond = (_, response, url) =>
      url.searchParams.has('starting_after') &&
      isRefused() &&
      Boolean(response.writeHead(status).end('{"error":{"message":"No such event"}}'));
  }

  /** A webhook whose key was revoked after the first page, of which all is missing. */
  async function interrupted(): Promise<{ id: string; asked: string }> {
    const { status, body } = await service.post('/v1/webhooks', {
      ...{ name: 'stripe', provider: 'stripe', secrets: ['whsec_c2VjcmV0'] },
      transform: 'function transform(evt, headers, query, raw) { return { name: "sent/stripe", data: { raw } }; }',
      reconciliation: { key: FAKE_KEY, account: { endpoint: 'we_1Fake' }, api_url: fake.url },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    const start = Date.now() - HOUR_MS;
    fake.sent = Array.from({ length: SENT }, (_, n) => stripeItem(firstNumber + n, start + n * 5_000));
    refusesMore(401);
    const { id } = body.data;
    const asked = since();
    await service.post(`/v1/webhooks/${id}/reconcile`, { since: asked });
    await completeness(id, asked, ({ problem }) => problem?.reason === 'key_rejected');
    fake.asked = [];
    return { id, asked };
  }

  /** As if the list had been begun that long ago. */
  async function age(id: string, ms: number, before: Partial<ReconciliationState> = {}): Promise<void> {
    const { webhookReconciliation } = service.keys.of(id);
    const pass = JSON.parse((await service.redis.hget(webhookReconciliation(id), 'pass')) ?? '') as ReconciliationPass;
    const aged: Partial<ReconciliationState> = {
      ...before,
      pass: { ...pass, startedAt: pass.startedAt - ms, from: pass.from - ms, to: pass.to - ms },
    };
    const fields = Object.entries(aged).flatMap(([name, value]) => [name, JSON.stringify(value)]);
    await service.redis.hset(webhookReconciliation(id), ...fields);
  }

  const patchKey = (id: string) =>
    service.request('PATCH', `/v1/webhooks/${id}`, { reconciliation: { key: FAKE_KEY } });
  const pagesAsked = () => fake.asked.filter((path) => path.startsWith('/v1/events?'));
  const isFirst = (path: string) => !path.includes('starting_after');

  it('begins its list again when somebody asks while a problem is shown', async () => {
    const { id, asked } = await interrupted();
    refusesMore(400, () => !pagesAsked().some(isFirst));
    await service.post(`/v1/webhooks/${id}/reconcile`, { since: asked });
    const done = await completeness(id, asked, ({ is_running }) => !is_running);
    expect(done).to.deep.include({ problem: null, sent: SENT, recovered: SENT, missing: 0 });
    expect(isFirst(pagesAsked()[0] ?? '')).to.equal(true);
  });

  it('begins its list again when the provider no longer knows where it stopped', async () => {
    const { id, asked } = await interrupted();
    await age(id, HOUR_MS);
    refusesMore(400, () => !pagesAsked().some(isFirst));
    expect((await patchKey(id)).status).to.equal(200);
    const done = await completeness(id, asked, ({ problem, is_running }) => problem === null && !is_running);
    expect(done).to.deep.include({ sent: SENT, recovered: SENT, missing: 0 });
  });

  it('recovers what it found, says that the list is not read to its end, and waits for an hour if each list breaks off there', async () => {
    const { id, asked } = await interrupted();
    await age(id, HOUR_MS);
    refusesMore(400);
    await patchKey(id);
    const told = await completeness(id, asked, ({ problem, is_running }) => !is_running && problem !== null);
    expect(told.problem?.reason).to.equal('list_interrupted');
    expect(told.problem?.message).to.include('answered 400').and.to.include('page 2');
    // Nothing counts as compared.
    expect([told.since, told.complete_since]).to.deep.equal([null, null]);
    expect(Date.parse(told.next_at)).to.be.above(Date.now() + HOUR_MS / 2);
    expect(pagesAsked().filter(isFirst).length).to.equal(1);
    const { body } = await service.get(`/v1/events?source=webhook:${id}&limit=100`);
    expect(body.data.length).to.equal(FIRST_PAGE);
    const { webhookMissing, webhookRecovered } = service.keys.of(id);
    const [missing, recovered] = [webhookMissing(id), webhookRecovered(id)];
    expect([await service.redis.zcard(missing), await service.redis.zcard(recovered)]).to.deep.equal([0, FIRST_PAGE]);
  });

  it('does not go on with a list of weeks ago, and does not call the time complete that can no longer be compared', async () => {
    const { id } = await interrupted();
    const ago = Date.now() - 30 * DAY_MS;
    await age(id, 29 * DAY_MS, { checked: { from: ago, to: ago + HOUR_MS } });
    fake.respond = undefined;
    const start = Date.now();
    await patchKey(id);
    const done = await completeness(
      id,
      new Date(ago).toISOString(),
      ({ problem, is_running }) => problem === null && !is_running,
    );
    expect(pagesAsked().map(isFirst)).to.deep.equal([true, false]);
    expect(done).to.deep.include({ sent: SENT, recovered: SENT, missing: 0 });
    for (const from of [done.since, done.complete_since]) expect(Date.parse(from)).to.be.above(start - DAY_MS);
  });
});

interface Completeness {
  since: string;
  complete_since: string;
  sent: number;
  recovered: number;
  missing: number;
  is_running: boolean;
  problem: { reason: string; message: string } | null;
  next_at: string;
}
