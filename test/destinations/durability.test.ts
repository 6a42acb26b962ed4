import { expect } from 'chai';
import { request } from '../support/http.ts';
import { openStore } from '../support/own-store.ts';
import { Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const BRANCH = { 'x-service-env': 'feature' };

describe('Destinations after a crash, in the archive and in branch environments', () => {
  let service: Service;
  let receiver: Receiver;
  before(async () => {
    const env = {
      HOT_HOURS: '0.001',
      STALLED_AFTER_SECONDS: '1',
      RETRY_SCALE: '0.0005',
      OUTBOUND_BRANCH_DENY_CIDRS: '127.0.0.0/8',
    };
    [service, receiver] = await Promise.all([
      startService({ archive: true, processes: 'worker', env }),
      Receiver.start(),
    ]);
  });
  after(() => Promise.all([service.stop(), receiver.stop()]));

  const post = (path: string, body: object, headers = {}) =>
    service.post(path, body, { ...service.apiHeaders, ...headers });
  const ids = (path: string) => receiver.at(path).map(({ headers }) => headers['webhook-id']);

  async function create(path: string, name: string, fields: object, headers = {}) {
    const { status, body } = await post(path, { name, ...fields }, headers);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  it('a worker that dies between the response and the commit sends it again, with the same webhook-id', async () => {
    receiver.on('/killed', async (_, number) => {
      if (number === 0) await service.killWorker();
      return {};
    });
    await create('/v1/destinations', 'killed', { url: receiver.url('/killed'), events: ['killed'] });
    const { body } = await service.post(service.eventPath, { name: 'killed', data: {} });
    await receiver.got('/killed');
    await service.startWorker();
    const ended = await service.waitFor(
      `/v1/events/${body.ids[0]}/runs`,
      ({ body }) => body.data[0]?.status === 'Completed',
    );
    expect(ids('/killed')).to.have.length(2);
    expect(new Set(ids('/killed'))).to.deep.equal(new Set([ended.body.data[0].run_id]));
  });

  it('a re-run and a replay of an archived request send it again byte for byte, each with a new webhook-id', async () => {
    const transform = 'const transform = (evt) => ({ name: "archived/original", data: evt });';
    const webhook = await create('/v1/webhooks', 'archived', { transform });
    const url = receiver.url('/archived');
    await create('/v1/destinations', 'archived', { url, webhook: webhook.id, body: 'request' });
    const bytes = Buffer.from('{"a" : 1}\n');
    const { body, headers } = await request('POST', webhook.url, { body: bytes });
    const original = service.keys.of(webhook.id).originalRequest(webhook.id, headers.get('x-request-id') ?? '');
    // As by a process that knows of the destination, which this one may not yet.
    await service.redis.hset(original, { headers: '{}', body: bytes });
    const runs = `/v1/events/${body.ids[0]}/runs`;
    const { body: first } = await service.waitFor(runs, ({ body }) => body.data[0]?.status === 'Completed');
    const runId = first.data[0].run_id;
    const keysOf = (pattern: string) => service.redis.keys(`${service.prefix}*${pattern}*`);
    await until(async () => (await keysOf(`webhook-request:${webhook.id}`)).length === 0, {
      describe: 'the archive has the request',
    });
    await until(async () => (await keysOf(runId)).length === 0, { describe: 'the archive has the run' });
    expect(await service.redis.exists(original)).to.equal(0);
    const { body: again } = await post(`/v1/runs/${runId}/retry`, {});
    await service.waitFor(`/v1/runs/${again.data.run_id}`, ({ body }) => body.data.status === 'Completed');
    const range = {
      received_after: new Date(Date.now() - 3_600_000).toISOString(),
      received_before: new Date().toISOString(),
    };
    const replay = { ...range, functions: ['destination:archived'], statuses: ['Completed'] };
    const { status, body: replayed } = await post('/v1/replays', replay);
    expect(status, JSON.stringify(replayed)).to.equal(201);
    const received = await receiver.got('/archived', 3);
    for (const { body } of received) expect(body.equals(bytes)).to.equal(true);
    expect(new Set(ids('/archived'))).to.have.length(3);
  });

  it('a branch environment has destinations of its own, for the webhooks of branches, within its address rules', async () => {
    await post('/v1/environments', { name: 'feature', kind: 'branch' });
    const transform = 'const transform = () => ({ name: "on/branch", data: {} });';
    const webhook = await create('/v1/webhooks', 'branches', { environment: 'branches', transform });
    const fields = { url: receiver.url('/branch'), webhook: webhook.id, retries: 0 };
    const refused = await post('/v1/destinations', { name: 'branch', ...fields });
    expect([refused.status, refused.body.field]).to.deep.equal([400, 'webhook']);
    await create('/v1/destinations', 'branch', fields, BRANCH);
    const { body } = await request('POST', `${webhook.url}?x-service-env=feature`, { body: '{}' });
    const headers = { ...service.apiHeaders, ...BRANCH };
    const failed = await until(
      async () => {
        const { body: runs } = await service.get(`/v1/events/${body.ids[0]}/runs`, headers);
        return runs.data[0]?.status === 'Failed' && runs.data[0];
      },
      { describe: 'the run has failed' },
    );
    const { body: run } = await service.get(`/v1/runs/${failed.run_id}`, headers);
    expect(run.data.error.name).to.equal('AddressBlocked');
    expect(receiver.at('/branch')).to.deep.equal([]);
  });

  it('secrets are re-encrypted when SECRET_KEY changes, and requests are signed as before', async () => {
    const [former = '', present = ''] = ['former', 'present'].map((name) => `${name} secret key 0123456789 0123456789`);
    const before = await openStore(undefined, { SECRET_KEY: former });
    const after = await openStore(before.prefix, { SECRET_KEY: present, SECRET_KEY_FALLBACK: former });
    const only = await openStore(before.prefix, { SECRET_KEY: present });
    try {
      const id = 'destination:a';
      const { destinations } = before;
      const destination = {
        ...{ body: 'event' as const, forwardHeaders: [], timeoutMs: 1, createdAt: 0, updatedAt: 0 },
        secrets: [destinations.seal('production', id, 'whsec_a')],
        headers: destinations.sealHeaders('production', id, { 'x-key': 'b' }),
      };
      const fn = { id, name: 'a', app: id, url: 'http://a/', dialect: 'service', retries: 0, config: {} } as const;
      const stored = { ...fn, triggers: [], cancel: [], archived: false, destination };
      await destinations.create('production', stored, 10);
      expect(await after.secretKeyCheck.reencrypt()).to.be.at.least(1);
      const opened = only.destinations.secretsOf(
        'production',
        await only.destinations.read('production', 'a'),
        Date.now(),
      );
      expect(opened).to.deep.equal({ signing: ['whsec_a'], headers: { 'x-key': 'b' } });
      expect(await after.destinations.reencrypt('production')).to.equal(0);
    } finally {
      await Promise.all([only, after, before].map((store) => store.close()));
    }
  });
});
