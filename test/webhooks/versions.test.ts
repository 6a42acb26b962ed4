import { expect } from 'chai';
import { addUser, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const naming = (name: string) => `const transform = (evt) => ({ name: '${name}', data: evt });\n`;

interface Made {
  id: string;
  url: string;
  version: number;
}

interface Version {
  version: number;
  changed: string[];
}

describe('Versions of webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0 });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body);

  async function make(fields: object = {}): Promise<Made> {
    const { status, body } = await call('POST', '/v1/webhooks', { name: 'W', transform: naming('a/1'), ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  const versions = ({ id }: { id: string }, rest = '') => `/v1/webhooks/${id}/versions${rest}`;
  const patch = (webhook: Made, body: object) => call('PATCH', `/v1/webhooks/${webhook.id}`, body);
  const list = async (webhook: Made, query = ''): Promise<Version[]> =>
    (await call('GET', versions(webhook, query))).body.data;
  const numbers = async (webhook: Made) => (await list(webhook)).map(({ version }) => version);

  it('GET /v1/webhooks/:id/versions lists who saved what and why, newest first, in pages', async () => {
    const webhook = await make({ message: 'First try' });
    await patch(webhook, { transform: naming('a/2'), filter: 'body.n > 1', message: ' Skip small ones ' });
    const { body } = await patch(webhook, { max_body_bytes: 100, methods: ['POST', 'PUT'] });
    expect(body.data.version).to.equal(3);
    const dev = { kind: 'dev', id: 'dev', name: 'dev mode' };
    const all = await list(webhook);
    const common = { author: dev, restored_from: null, is_live: false };
    const shown = all.map(({ created_at: _, ...version }: Version & { created_at?: string }) => version);
    expect(shown).to.deep.equal([
      { ...common, version: 3, is_live: true, message: null, changed: ['methods', 'max_body_bytes'] },
      { ...common, version: 2, message: 'Skip small ones', changed: ['transform', 'filter'] },
      { ...common, version: 1, message: 'First try', changed: ['transform'] },
    ]);
    const first = await call('GET', versions(webhook, '?limit=2'));
    expect(first.body.data).to.deep.equal(all.slice(0, 2));
    const { cursor } = first.body.metadata;
    const second = await call('GET', versions(webhook, `?limit=2&cursor=${cursor}`));
    expect(second.body.data).to.deep.equal(all.slice(2));
    expect(second.body.metadata).to.not.have.property('cursor');
    expect((await call('GET', versions({ id: 'none' }))).status).to.equal(404);
  });

  it('PATCH /v1/webhooks/:id makes no version if the change does not affect the handling of requests', async () => {
    const webhook = await make();
    for (const fields of [
      { name: 'Other' },
      { transform: naming('a/1'), message: 'Nothing new' },
      { verify: true, settings: {}, filter: null },
      { event_names: { mode: 'deny', items: ['x'] } },
    ]) {
      expect((await patch(webhook, fields)).body.data.version).to.equal(1);
    }
    await call('POST', `/v1/webhooks/${webhook.id}/pause`);
    await call('POST', `/v1/webhooks/${webhook.id}/resume`);
    expect(
      (await call('POST', `/v1/webhooks/${webhook.id}/rotate`, { keep_old_seconds: 0 })).body.data.version,
    ).to.equal(1);
    expect(await numbers(webhook)).to.deep.equal([1]);
  });

  it('GET /v1/webhooks/:id/versions/:version has the content of that time without secrets', async () => {
    const webhook = await make({ provider: 'stripe', secrets: ['whsec_first'], filter: 'body.a == 1' });
    await patch(webhook, { provider: null, transform: naming('a/2'), filter: null });
    const { body } = await call('GET', versions(webhook, '/1'));
    expect(body.data.snapshot).to.deep.equal({
      transform: naming('a/1'),
      filter: 'body.a == 1',
      provider: 'stripe',
      verification: null,
      settings: {},
      verify: true,
      methods: null,
      deduplicate: true,
      max_body_bytes: null,
      large_bodies: null,
      order: null,
    });
    expect(JSON.stringify(body)).to.not.include('secret');
    for (const version of ['3', '99999999999999999999', '0', 'x']) {
      expect((await call('GET', versions(webhook, `/${version}`))).status, version).to.be.oneOf([400, 404]);
    }
  });

  it('GET /v1/webhooks/:id/versions/:version/diff shows each changed field, and code by lines', async () => {
    const code = (name: string) =>
      `function transform(evt) {\n  const name = '${name}';\n  return { name, data: evt };\n}\n`;
    const webhook = await make({ transform: code('a/1') });
    await patch(webhook, { transform: code('a/2'), filter: 'true' });
    await patch(webhook, { max_body_bytes: 5 });
    const { body } = await call('GET', versions(webhook, '/3/diff?with=1'));
    expect(body.data).to.deep.equal({
      with: 1,
      version: 3,
      changes: [
        {
          field: 'transform',
          before: code('a/1'),
          after: code('a/2'),
          diff: [
            '--- version 1',
            '+++ version 3',
            '@@ -1,4 +1,4 @@',
            ' function transform(evt) {',
            "-  const name = 'a/1';",
            "+  const name = 'a/2';",
            '   return { name, data: evt };',
            ' }',
            '',
          ].join('\n'),
        },
        {
          field: 'filter',
          before: null,
          after: 'true',
          diff: '--- version 1\n+++ version 3\n@@ -0,0 +1,1 @@\n+true\n\\ No newline at end of file\n',
        },
        { field: 'max_body_bytes', before: null, after: 5, diff: null },
      ],
    });
    const last = await call('GET', versions(webhook, '/3/diff'));
    expect(last.body.data.changes.map(({ field }: { field: string }) => field)).to.deep.equal(['max_body_bytes']);
    expect((await call('GET', versions(webhook, '/2/diff?with=2'))).body.data.changes).to.deep.equal([]);
    expect((await call('GET', versions(webhook, '/1/diff'))).status).to.equal(404);
  });

  it('GET /v1/webhooks/:id/versions/:version/diff of two texts without a common line responds quickly', async () => {
    const lines = (letter: string) => `${naming('a/1')}//\n${`//${letter}\n`.repeat(16_000)}`;
    const webhook = await make({ transform: lines('x') });
    await patch(webhook, { transform: lines('y') });
    const startedAt = performance.now();
    const { body } = await call('GET', versions(webhook, '/2/diff'));
    expect(performance.now() - startedAt).to.be.below(3_000);
    const { diff } = body.data.changes[0];
    expect(diff.match(/^-\/\/x$/gm)).to.have.length(16_000);
    expect(diff.match(/^\+\/\/y$/gm)).to.have.length(16_000);
  });

  it('POST /v1/webhooks/:id/versions/:version/restore makes a version with the content of an earlier one', async () => {
    const webhook = await make({ filter: 'body.n > 0' });
    await patch(webhook, { transform: naming('a/2'), filter: null, verify: false, max_body_bytes: 1_000 });
    const { status, body } = await call('POST', versions(webhook, '/1/restore'), { message: 'Worked better' });
    expect([status, body.data.version]).to.deep.equal([200, 3]);
    expect(body.data).to.include({ transform: naming('a/1'), filter: 'body.n > 0', max_body_bytes: null });
    const [live] = await list(webhook);
    expect(live).to.deep.include({
      message: 'Worked better',
      restored_from: 1,
      changed: ['transform', 'filter', 'verify', 'max_body_bytes'],
    });
    const { body: responseBody } = await request('POST', webhook.url, { body: '{"n":1}' });
    const event = await service.waitFor(`/v1/webhooks/${webhook.id}/requests`, ({ body }) => body.data.length === 1);
    expect(responseBody.ids).to.have.length(1);
    expect(event.body.data[0]).to.deep.include({ event_name: 'a/1', version: 3 });
    const again = await call('POST', versions(webhook, '/1/restore'), {});
    expect(again.body.data.version).to.equal(3);
    expect((await call('POST', versions(webhook, '/9/restore'), {})).status).to.equal(404);
    const audited = (await call('GET', '/v1/audit?limit=3')).body.data;
    expect(audited[0]).to.deep.include({
      action: 'POST /v1/webhooks/:id/versions/:version/restore',
      target: `${webhook.id}/1`,
    });
  });

  it('restoring a version of another provider drops the secrets of this one, and keeps those of the same', async () => {
    const webhook = await make({ provider: 'stripe', secrets: ['whsec_first'] });
    const kept = await patch(webhook, { filter: 'true' });
    const same = await call('POST', versions(webhook, '/1/restore'), {});
    expect(same.body.data.secrets).to.deep.equal(kept.body.data.secrets);
    await patch(webhook, { provider: 'hmac', secrets: ['other'], verification: HMAC });
    const { body } = await call('POST', versions(webhook, '/1/restore'), {});
    expect(body.data).to.deep.include({ provider: 'stripe', secrets: [], verify: true, verification: null });
    expect((await request('POST', webhook.url, { body: '{}' })).body.code).to.equal('verification_failed');
  });

  it('restoring a version is rejected if its provider, filter or transform is no longer valid', async () => {
    const webhook = await make();
    const live = await patch(webhook, { filter: 'true' });
    const key = service.keys.webhookVersions(webhook.id);
    const snapshot = JSON.parse((await service.redis.hget(key, '1:snapshot')) as string);
    for (const [fields, code, word] of [
      [{ provider: 'gone' }, 'input_invalid', 'provider'],
      [{ filter: 'body.' }, 'input_invalid', 'filter'],
      [{ transform: 'function (' }, 'transform_invalid', 'line 1'],
    ] as const) {
      await service.redis.hset(key, '1:snapshot', JSON.stringify({ ...snapshot, ...fields }));
      const { status, body } = await call('POST', versions(webhook, '/1/restore'), {});
      expect([status, body.code]).to.deep.equal([400, code]);
      expect(body.error).to.include(word);
    }
    expect((await call('GET', `/v1/webhooks/${webhook.id}`)).body.data).to.deep.equal(live.body.data);
  });

  it('concurrent saves are separate versions, and none undoes another', async () => {
    const webhook = await make();
    const saves = Array.from({ length: 10 }, (_, n) => patch(webhook, { transform: naming(`race/${n}`) }));
    const others = [
      call('POST', `/v1/webhooks/${webhook.id}/pause`),
      patch(webhook, { filter: 'body.n == 1' }),
      call('POST', `/v1/webhooks/${webhook.id}/rotate`, { keep_old_seconds: 60 }),
    ];
    const responses = await Promise.all([...saves, ...others]);
    expect(responses.map(({ status }) => status)).to.deep.equal(responses.map(() => 200));
    expect(await numbers(webhook)).to.deep.equal(Array.from({ length: 12 }, (_, i) => 12 - i));
    const { data } = (await call('GET', `/v1/webhooks/${webhook.id}`)).body;
    expect(data.paused_at).to.be.a('string');
    expect(data).to.include({ filter: 'body.n == 1', version: 12 });
    expect(data.former_urls).to.have.length(1);
    const { snapshot } = (await call('GET', versions(webhook, '/12'))).body.data;
    expect(snapshot).to.include({ transform: data.transform, filter: data.filter });
    const saved = await Promise.all(
      (await numbers(webhook)).map(async (n) => (await call('GET', versions(webhook, `/${n}`))).body.data.snapshot),
    );
    expect(new Set(saved.map(({ transform }) => transform)).size).to.equal(11);
  });

  it('PATCH /v1/webhooks/:id with if_version responds with 409 when another save came first', async () => {
    const webhook = await make();
    const both = await Promise.all(
      ['a/2', 'a/3'].map((name) => patch(webhook, { transform: naming(name), if_version: 1 })),
    );
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    const lost = both.find(({ status }) => status === 409);
    expect(lost?.body).to.include({ code: 'version_conflict', version: 2 });
    expect(await numbers(webhook)).to.deep.equal([2, 1]);
    const restored = await call('POST', versions(webhook, '/1/restore'), { if_version: 1 });
    expect(restored.body.code).to.equal('version_conflict');
    expect((await patch(webhook, { name: 'Other', if_version: 2 })).status).to.equal(200);
  });

  it('a webhook from before versions has version 1, and its first save records that and version 2', async () => {
    const webhook = await make();
    const { webhooks, webhookVersions } = service.keys;
    const old = JSON.parse((await service.redis.hget(webhooks, webhook.id)) as string);
    for (const field of ['provider', 'settings', 'verify', 'filter', 'methods', 'maxBodyBytes']) delete old[field];
    await service.redis.hset(webhooks, webhook.id, JSON.stringify({ ...old, version: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }));
    await service.redis.del(webhookVersions(webhook.id));
    const before = await list(webhook);
    expect(before).to.have.length(1);
    expect(before[0]).to.deep.include({
      version: 1,
      is_live: true,
      author: null,
      changed: [],
      created_at: new Date(old.updatedAt).toISOString(),
    });
    expect((await call('GET', versions(webhook, '/1'))).body.data.snapshot.transform).to.equal(naming('a/1'));
    expect((await patch(webhook, { name: 'Named', if_version: 1 })).body.data.version).to.equal(1);
    expect((await patch(webhook, { transform: naming('a/2') })).body.data.version).to.equal(2);
    const after = await list(webhook);
    expect(after.map(({ version, changed }) => [version, changed])).to.deep.equal([
      [2, ['transform']],
      [1, []],
    ]);
    const back = await call('POST', versions(webhook, '/1/restore'), {});
    expect(back.body.data).to.include({ version: 3, transform: naming('a/1') });
  });

  it('DELETE /v1/webhooks/:id deletes the versions', async () => {
    const webhook = await make();
    await patch(webhook, { filter: 'true' });
    const key = service.keys.webhookVersions(webhook.id);
    expect(await service.redis.exists(key)).to.equal(1);
    await call('DELETE', `/v1/webhooks/${webhook.id}`);
    expect(await service.redis.exists(key)).to.equal(0);
    expect((await call('GET', versions(webhook))).status).to.equal(404);
    expect((await patch(webhook, { filter: 'false' })).status).to.equal(404);
    expect(await service.redis.exists(key)).to.equal(0);
  });

  it('messages have at most 500 characters', async () => {
    const webhook = await make();
    expect((await patch(webhook, { filter: 'true', message: 'x'.repeat(500) })).status).to.equal(200);
    const { status, body } = await patch(webhook, { filter: 'false', message: 'x'.repeat(501) });
    expect([status, body.field]).to.deep.equal([400, 'message']);
  });
});

const HMAC = {
  scheme: 'hmac',
  algorithm: 'sha256',
  encoding: 'hex',
  signature: { at: 'header:x-signature' },
  signed: '{body}',
  key: { encoding: 'utf8' },
};

describe('Authors of versions of webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0, dev: false });
  });
  after(() => service.stop());

  it('are the user, the API key or the setting that saved them; a principal with read access sees them but cannot restore', async () => {
    const setting = service.apiHeaders;
    const write = await keyHeaders(service, 'write');
    const read = await keyHeaders(service, 'read');
    const userId = await addUser(service, 'ada@example.com', 'admin');
    const user = await sessionHeaders(service, 'ada@example.com');
    const made = await service.post('/v1/webhooks', { name: 'W' }, setting);
    const path = `/v1/webhooks/${made.body.data.id}`;
    await service.request('PATCH', path, { filter: 'true' }, write);
    await service.request('PATCH', path, { filter: 'false' }, user);
    await service.post(`${path}/versions/1/restore`, {}, write);
    const { body } = await service.get(`${path}/versions`, read);
    const authors = body.data.map(({ author }: { author: { kind: string; name: string } }) => author);
    const [key, ada, , byApi] = authors;
    expect(key).to.deep.include({ kind: 'api-key', name: 'write' });
    expect(ada).to.deep.equal({ kind: 'user', id: userId, name: 'ada@example.com' });
    expect(byApi).to.deep.equal({ kind: 'setting', id: 'API_KEY', name: 'the setting API_KEY' });
    expect((await service.post(`${path}/versions/1/restore`, {}, read)).body.code).to.equal('access_denied');
    expect((await service.get(`${path}/versions/2/diff`, read)).status).to.equal(200);
  });
});
