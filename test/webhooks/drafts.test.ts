import { expect } from 'chai';
import { request } from '../support/http.ts';
import { deliver as deliverTo, type LoggedWebhook, makeWebhook } from '../support/logged-webhooks.ts';
import { type Service, startService } from '../support/service.ts';

const ECHO = "const transform = (evt) => ({ name: 'draft/x', data: { n: evt.n } });";

interface Compared {
  request_id: string;
  change: string;
  before: { outcome: string; reason: string | null } | null;
  after: { outcome: string; reason: string | null };
}

describe('Drafts of filters and transforms of webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { WEBHOOK_LOG_SIZE: '1000' } });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body);

  const make = (fields: object = {}) => makeWebhook(service, { transform: ECHO, ...fields });
  const deliver = (webhook: LoggedWebhook, bodies: object[]) => deliverTo(service, webhook, bodies);

  async function replay({ id }: LoggedWebhook, body: object) {
    const response = await call('POST', `/v1/webhooks/${id}/replays`, body);
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return response.body.data;
  }

  const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));
  const shown = ({ sample }: { sample: Compared[] }) =>
    sample.map(({ before, after, change }) => [before?.outcome, after.outcome, change]).toReversed();

  it('a dry run shows what a draft of the filter would drop or let through, compared with the present filter', async () => {
    const webhook = await make({ filter: 'body.n >= 1.0' });
    await deliver(webhook, numbered(3));
    const { dry_run } = await replay(webhook, { draft_filter: 'body.n <= 1.0' });
    expect(shown(dry_run)).to.deep.equal([
      ['filtered', 'accepted', 'new_event'],
      ['accepted', 'accepted', 'same'],
      ['accepted', 'filtered', 'no_event'],
    ]);
    const [dropped] = dry_run.sample;
    expect(dropped.after).to.include({ reason: 'filter_not_met', event_name: null, event: null, event_count: 0 });
    expect(dropped.before.events[0]).to.deep.include({ name: 'draft/x', data: { n: 2 } });
    expect((await call('GET', `/v1/webhooks/${webhook.id}`)).body.data).to.include({
      filter: 'body.n >= 1.0',
      version: 1,
    });
  });

  it('a dry run accepts a draft of both, and null for no filter', async () => {
    const webhook = await make({ filter: 'body.n == 1.0' });
    await deliver(webhook, numbered(2));
    const none = await replay(webhook, { draft_filter: null });
    expect(shown(none.dry_run)).to.deep.equal([
      ['filtered', 'accepted', 'new_event'],
      ['accepted', 'accepted', 'same'],
    ]);
    const draft = "const transform = (evt) => ({ name: 'draft/other', data: {} });";
    const both = await replay(webhook, { draft, draft_filter: 'true' });
    expect(shown(both.dry_run)).to.deep.equal([
      ['filtered', 'accepted', 'new_event'],
      ['accepted', 'accepted', 'changed'],
    ]);
    const present = await replay(webhook, { draft });
    expect(shown(present.dry_run)).to.deep.equal([
      ['filtered', 'filtered', 'same'],
      ['accepted', 'accepted', 'changed'],
    ]);
    const withoutDraft = await replay(webhook, {});
    expect(withoutDraft.dry_run.sample[0].before).to.equal(null);
  });

  it('a dry run without a time range takes the last 50 requests of any time, and leaves out re-runs', async () => {
    const webhook = await make();
    const ids = await deliver(webhook, numbered(55));
    const path = `/v1/webhooks/${webhook.id}/requests`;
    for (let i = 0; i < 5; i++) await call('POST', `${path}/${ids[i]}/rerun`, { dry_run: false });
    await service.waitFor(`${path}?limit=100`, ({ body }) => body.data.length === 60);
    const { dry_run } = await replay(webhook, { draft_filter: 'true' });
    expect(dry_run.sample.map((comparison: Compared) => comparison.request_id)).to.deep.equal(
      ids.slice(5).toReversed(),
    );
    expect(dry_run.stopped_early).to.equal(null);
  });

  it('a replay with a draft of the filter drops what the draft drops, and deletes the draft at its end', async () => {
    const webhook = await make({ filter: 'false' });
    const ids = await deliver(webhook, numbered(4));
    const { replay: started } = await replay(webhook, {
      draft_filter: 'body.n >= 2.0',
      dry_run: false,
      rate: 100,
    });
    expect(started.with_draft).to.equal(true);
    const path = `/v1/webhooks/${webhook.id}/replays/${started.id}`;
    const ended = await service.waitFor(path, ({ body }) => body.data.ended_at !== null);
    expect(ended.body.data).to.include({ done: 2, skipped: 2, failed: 0 });
    const skipped = (await call('GET', `${path}/results?status=skipped`)).body.data;
    expect(
      skipped.map((result: { request_id: string; reason: string }) => [result.request_id, result.reason]),
    ).to.deep.equal([
      [ids[0], 'filtered'],
      [ids[1], 'filtered'],
    ]);
    const key = service.keys.bulkOperation('', 'webhook-replay', started.id);
    const { definition = '{}' } = await service.redis.hgetall(key);
    expect(JSON.parse(definition), 'the draft is gone').to.include({ hasDraft: true }).and.not.have.property('draft');
  });

  it('a replay with null as filter lets everything through', async () => {
    const webhook = await make({ filter: 'false' });
    await deliver(webhook, numbered(2));
    const { replay: started } = await replay(webhook, { draft_filter: null, dry_run: false, rate: 100 });
    const path = `/v1/webhooks/${webhook.id}/replays/${started.id}`;
    const ended = await service.waitFor(path, ({ body }) => body.data.ended_at !== null);
    expect(ended.body.data).to.include({ done: 2, skipped: 0, with_draft: true });
  });

  it('POST /v1/webhooks/:id/replays rejects a draft of a filter that does not compile', async () => {
    const webhook = await make();
    const { status, body } = await call('POST', `/v1/webhooks/${webhook.id}/replays`, { draft_filter: 'body.' });
    expect([status, body.code, body.field]).to.deep.equal([400, 'input_invalid', 'draft_filter']);
  });

  it('a draft of a filter that costs too much rejects requests, without counting against the filter', async () => {
    const costly = '!body.list.exists(a, body.list.exists(b, body.list.exists(c, a + b + c == -1.0)))';
    const webhook = await make();
    const list = (length: number) => ({ list: Array.from({ length }, (_, n) => n) });
    const large = Array.from({ length: 12 }, () => list(60));
    await deliver(webhook, large);
    const { dry_run } = await replay(webhook, { draft_filter: costly });
    const reasons = dry_run.sample.map(({ after }: Compared) => after.reason);
    expect(reasons).to.deep.equal(large.map(() => 'filter_failed'));
    await call('PATCH', `/v1/webhooks/${webhook.id}`, { filter: costly });
    // More than a quarantined filter may cost.
    const send = async () => (await request('POST', webhook.url, { body: JSON.stringify(list(8)) })).body;
    expect((await send()).ids).to.have.length(1);
    for (const one of large) await request('POST', webhook.url, { body: JSON.stringify(one) });
    expect((await send()).code).to.equal('filter_failed');
  });

  it('the log says which version handled a request, even for a re-run', async () => {
    const webhook = await make();
    const [id] = await deliver(webhook, [{ n: 1 }]);
    await call('PATCH', `/v1/webhooks/${webhook.id}`, { filter: 'true' });
    const path = `/v1/webhooks/${webhook.id}/requests`;
    await call('POST', `${path}/${id}/rerun`, { dry_run: false });
    const { body } = await service.waitFor(path, (response) => response.body.data.length === 2);
    const versions = body.data.map((item: { version: number; rerun_of: string | null }) => [
      item.version,
      item.rerun_of,
    ]);
    expect(versions).to.deep.equal([
      [2, id],
      [1, null],
    ]);
  });
});
