import { createHash, createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { LargeBodies } from '../../src/api/receive/large-bodies.ts';
import type { WebhookBodyStore } from '../../src/archive/webhook-bodies.ts';
import { Originals } from '../../src/history/originals.ts';
import { MemoryBudget } from '../../src/model/capacity/memory-budget.ts';
import { LARGE_BODY_MAX_BYTES, LARGE_BODY_MEMORY } from '../../src/model/webhooks/large-bodies.ts';
import type { LoggedRequest } from '../../src/model/webhooks/request-log.ts';
import { request } from '../support/http.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const SECRET = 'a secret of GitHub';
const TRANSFORM =
  'const transform = (evt, headers, query, raw) => ({ name: "got/large", data: { evt, raw, kind: typeof raw } })';
const FIELDS = ['action', 'commits.*.id'];

function largeBodies(bodies?: WebhookBodyStore): LargeBodies {
  return new LargeBodies({
    memory: new MemoryBudget(LARGE_BODY_MEMORY),
    bodies,
    publicUrl: undefined,
    retentionDays: 7,
  });
}

describe('Large bodies of webhooks', () => {
  let proxy: PostgresProxy;
  let service: Service;
  before(async () => {
    proxy = await PostgresProxy.start();
    service = await startService({ archive: true, dev: false, env: { DATABASE_URL: proxy.url } });
  });
  after(async () => {
    await service.stop();
    await proxy.stop();
  });

  async function make(fields: object = {}): Promise<{ id: string; url: string }> {
    const large_bodies = { max_bytes: LARGE_BODY_MAX_BYTES, fields: FIELDS };
    const body = { name: 'large', transform: TRANSFORM, large_bodies, ...fields };
    const response = await post('/v1/webhooks', body);
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
    return response.body.data;
  }
  const post = (path: string, body: object) => service.post(path, body, service.apiHeaders);
  const logged = async (id: string, count = 1) =>
    (await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === count)).body.data;
  const eventData = async (id: string) => (await service.stored(id)).body.data.data;

  /** JSON of exactly so many bytes. */
  function bodyOf(bytes: number, commits = 3): Buffer {
    const without = (text: string) =>
      JSON.stringify({
        action: 'pushed',
        text,
        commits: Array.from({ length: commits }, (_, id) => ({ id, long: 'x' })),
      });
    return Buffer.from(without('y'.repeat(bytes - without('').length)));
  }

  function signed(body: Buffer, secret = SECRET) {
    return {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': randomBytes(8).toString('hex'),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
  }

  it('the largest body that GitHub sends is verified and kept, and the transform gets its fields and a reference', async () => {
    const { id, url } = await make({ provider: 'github', secrets: [SECRET] });
    const body = bodyOf(LARGE_BODY_MAX_BYTES);
    expect(body.length).to.equal(LARGE_BODY_MAX_BYTES);
    const { status, body: responseBody } = await request('POST', url, { body, headers: signed(body) });
    expect([status, responseBody.ids?.length], JSON.stringify(responseBody)).to.deep.equal([200, 1]);
    const { evt, raw, kind } = await eventData(responseBody.ids[0]);
    expect(evt).to.deep.equal({ action: 'pushed', commits: [{ id: 0 }, { id: 1 }, { id: 2 }] });
    const [entry] = await logged(id);
    expect(entry).to.include({ outcome: 'accepted', body_bytes: body.length });
    const path = `/v1/webhooks/${id}/requests/${entry.id}/body`;
    expect([kind, raw.bytes, raw.sha256]).to.deep.equal([
      'object',
      body.length,
      createHash('sha256').update(body).digest('hex'),
    ]);
    expect(new URL(raw.url, service.url).pathname).to.equal(path);
    const response = await fetch(service.url + path, { headers: service.apiHeaders });
    expect(body.equals(Buffer.from(await response.arrayBuffer()))).to.equal(true);
    expect([response.headers.get('content-type'), response.headers.get('content-disposition')]).to.deep.equal([
      'application/octet-stream',
      'attachment',
    ]);
    expect((await request('GET', service.url + path)).status).to.equal(401);
    const details = (await service.get(`/v1/webhooks/${id}/requests/${entry.id}`)).body.data;
    expect([details.body, details.body_path]).to.deep.equal([null, path]);
  });

  it('a re-run and a replay process the kept body again, and keep it once', async () => {
    const { id, url } = await make({ filter: 'body.action == "pushed"' });
    const body = bodyOf(600_000);
    await request('POST', url, { body, headers: { 'content-type': 'application/json' } });
    const [entry] = await logged(id);
    const rerun = await post(`/v1/webhooks/${id}/requests/${entry.id}/rerun`, { dry_run: false });
    const again = await eventData(rerun.body.data.ids[0]);
    expect([again.evt.action, again.raw.bytes]).to.deep.equal(['pushed', body.length]);
    expect(again.raw.url).to.include(entry.id);
    const [repeated] = await logged(id, 2);
    expect(repeated).to.include({ rerun_of: entry.id, body_bytes: body.length });
    const { body: original } = await service.get(`/v1/webhooks/${id}/requests/${repeated.id}/original`);
    expect(Buffer.from(original.data.body, 'base64').equals(body)).to.equal(true);
    const { body: started } = await post(`/v1/webhooks/${id}/replays`, {
      dry_run: false,
      from: new Date(0).toISOString(),
    });
    const path = `/v1/webhooks/${id}/replays/${started.data.replay.id}`;
    const { body: ended } = await service.waitFor(path, ({ body }) => body.data.state === 'done');
    expect(ended.data).to.include({ done: 1, failed: 0, skipped: 1 });
  });

  it('a body that fits is handled as usual, and a larger one than the webhook takes is refused with the field to change', async () => {
    const { id, url } = await make({ large_bodies: { max_bytes: 700_000, fields: [] } });
    const small = await request('POST', url, { body: { action: 'small' } });
    expect(await eventData(small.body.ids[0])).to.deep.include({ evt: { action: 'small' }, kind: 'string' });
    const { status, body } = await request('POST', url, { body: bodyOf(700_001) });
    expect([status, body.code, body.limit_bytes]).to.deep.equal([413, 'body_too_large', 700_000]);
    expect(body.error).to.include(`raise "max_bytes" of its "large_bodies" with PATCH /v1/webhooks/${id}`);
  });

  it('nothing is kept of a request that is not verified', async () => {
    const { id, url } = await make({ provider: 'github', secrets: [SECRET] });
    const body = bodyOf(600_000);
    const { status } = await request('POST', url, { body, headers: signed(body, 'another secret') });
    expect(status).to.equal(401);
    const [entry] = await logged(id);
    expect(entry).to.include({ reason: 'verification_failed', body_bytes: null });
    expect((await service.get(`/v1/webhooks/${id}/requests/${entry.id}/body`)).status).to.equal(404);
  });

  it('the provider is asked to send again while Postgres is away, and no event is made', async () => {
    const { id, url } = await make();
    const body = bodyOf(600_000);
    proxy.leave();
    const refused = await request('POST', url, { body });
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'archive_unavailable']);
    expect(Number(refused.headers.get('retry-after'))).to.be.greaterThan(0);
    const [entry] = await logged(id);
    expect(entry).to.include({ outcome: 'rejected', event_name: null, body_bytes: null });
    proxy.comeBack();
    await until(async () => (await request('POST', url, { body })).status === 200, {
      describe: 'the request is accepted',
    });
  });

  it('fields of a form with files are selected too', async () => {
    const { url } = await make({ large_bodies: { max_bytes: 1_000_000, fields: ['subject'] } });
    const form = new FormData();
    form.set('subject', 'Hello');
    form.set('attachment', new Blob(['z'.repeat(600_000)]), 'z.txt');
    const { body } = await request('POST', url, { body: form });
    expect((await eventData(body.ids[0])).evt).to.deep.equal({ subject: ['Hello'] });
  });

  it('fields that are too large themselves are refused, and the error says how large they are', async () => {
    const { url } = await make({ large_bodies: { max_bytes: 1_000_000, fields: ['text'] } });
    const { status, body } = await request('POST', url, { body: bodyOf(900_000) });
    expect([status, body.code]).to.deep.equal([413, 'body_too_large']);
    expect(body.error).to.match(/have 8\d{5} characters; select at most 524288/);
  });

  it('a destination gets the whole body', async () => {
    const receiver = await Receiver.start();
    try {
      const { id, url } = await make();
      const destination = { name: 'whole', url: receiver.url('/whole'), webhook: id, body: 'request' };
      expect((await post('/v1/destinations', destination)).status).to.equal(201);
      const body = bodyOf(700_000);
      await request('POST', url, { body });
      const [received] = await receiver.got('/whole');
      expect(received?.body.equals(body)).to.equal(true);
    } finally {
      await receiver.stop();
    }
  });

  it('a body leaves with its webhook', async () => {
    const { id, url } = await make();
    await request('POST', url, { body: bodyOf(600_000) });
    const [entry] = await logged(id);
    await service.request('DELETE', `/v1/webhooks/${id}`, undefined, service.apiHeaders);
    expect((await service.get(`/v1/webhooks/${id}/requests/${entry.id}/body`)).status).to.equal(404);
  });

  it('one webhook cannot take all memory for large bodies; bodies that arrive and those that are read wait in their order', async () => {
    const bodies = largeBodies({ read: async () => Buffer.alloc(1), add: async () => {} });
    const [given, releases]: [string[], (() => void)[]] = [[], []];
    const take = async (webhook: string, reserved: Promise<() => void>) => {
      releases.push(await reserved);
      given.push(webhook);
    };
    const reserve = (webhook: string, bytes = LARGE_BODY_MAX_BYTES) => take(webhook, bodies.reserve(webhook, bytes));
    const busy = [reserve('busy'), reserve('busy')];
    const waits = [reserve('busy'), reserve('other'), reserve('other')];
    const read = bodies.read('read', 'r', 60 * 1_048_576).then(({ release }) => release);
    const late = reserve('late', 50 * 1_048_576);
    waits.push(take('read', read));
    await Promise.all(busy);
    await new Promise(setImmediate);
    expect(given).to.deep.equal(['busy', 'busy', 'other', 'other']);
    for (const release of releases.splice(0)) release();
    await Promise.all(waits);
    expect(given.slice(4), 'what comes later overtakes nothing').to.deep.equal(['busy', 'read']);
    for (const release of releases.splice(0)) release();
    await late;
  });

  it('kept bodies that are read take the same memory: they wait for it, and give it back also after an error', async () => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads === 2) throw new Error('the archive is away');
      return Buffer.alloc(1);
    };
    const bodies = largeBodies({ read, add: async () => {} });
    const received = [
      await bodies.reserve('busy', LARGE_BODY_MAX_BYTES),
      await bodies.reserve('busy', LARGE_BODY_MAX_BYTES),
    ];
    const logged = { summary: { storedBody: 'r', bodyBytes: LARGE_BODY_MAX_BYTES } } as LoggedRequest;
    const use = () => bodies.withBodyOf('busy', logged, async (body) => body?.length);
    const used = [use(), use(), use()];
    used[1]?.catch(() => {});
    await new Promise(setImmediate);
    expect(reads).to.equal(0);
    received[0]?.();
    expect(await used[0]).to.equal(1);
    expect(await used[1]?.catch((error: Error) => error.message)).to.equal('the archive is away');
    expect(await used[2]).to.equal(1);
    const { release } = await bodies.bodyOf('busy', logged);
    const next = bodies.reserve('busy', LARGE_BODY_MAX_BYTES);
    expect(await Promise.race([next, 'it waits'])).to.equal('it waits');
    release();
    expect(await next).to.be.a('function');
  });

  it('the original requests that destinations send on take memory, too: others wait until it is given back', async () => {
    const original = { headers: {}, body: Buffer.alloc(0), storedBody: 'r', bodyBytes: LARGE_BODY_MAX_BYTES };
    let isAway = false;
    const originals = new Originals({
      originalRequests: { read: async () => original },
      history: { webhookLog: { read: async () => undefined } },
      bodyStore: {
        read: async () => {
          if (isAway) throw new Error('the archive is away');
          return Buffer.alloc(1);
        },
      },
      bodyMemory: new MemoryBudget(LARGE_BODY_MEMORY),
    });
    const read = () => originals.read('w', 'r');
    const held = [await read(), await read()];
    let isRead = false;
    const third = read().finally(() => {
      isRead = true;
    });
    await new Promise(setImmediate);
    expect(isRead).to.equal(false);
    held[0]?.release?.();
    (await third)?.release?.();
    isAway = true;
    for (let n = 0; n < 3; n++) expect(await read().catch((error: Error) => error.message)).to.include('away');
  });
});
