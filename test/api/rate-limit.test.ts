import { expect } from 'chai';
import { addUser, sessionHeaders } from '../support/auth.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('API_RATE_LIMIT', () => {
  let service: Service;
  let session: Record<string, string>;
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: { API_RATE_LIMIT: '20' } });
    await addUser(service, 'ada@example.com', 'admin');
    session = await sessionHeaders(service, 'ada@example.com');
  });
  after(() => service.stop());

  it('responds with 429 and retry-after when an API key has used up its requests of the minute, and says how many are left', async () => {
    const { body } = await service.post('/v1/api-keys', { name: 'Busy', access: 'read' }, session);
    const busy = { authorization: `Bearer ${body.data.secret}` };
    const responses = [];
    for (let n = 0; n < 25; n++) responses.push(await service.get('/v1/events?limit=1', busy));
    expect(responses.map(({ status }) => status)).to.deep.equal([...Array(20).fill(200), ...Array(5).fill(429)]);
    expect(responses[0]?.headers.get('ratelimit-policy')).to.equal('"api-key";q=20;w=60');
    expect(responses[0]?.headers.get('ratelimit')).to.match(/^"api-key";r=19;t=\d+$/);
    const last = responses.at(-1);
    expect(last?.body).to.include({ code: 'api_rate_exceeded', allowed: 20 });
    expect(Number(last?.headers.get('retry-after'))).to.be.within(1, 60);
    expect(last?.headers.get('ratelimit')).to.match(/^"api-key";r=0;t=\d+$/);
  });

  it('counts each message of a batch that is sent to /mcp, and calls no tool of a batch beyond it', async () => {
    const { body } = await service.post('/v1/api-keys', { name: 'Assistant', access: 'write' }, session);
    const headers = {
      authorization: `Bearer ${body.data.secret}`,
      accept: 'application/json, text/event-stream',
    };
    const params = { name: 'send_event', arguments: { name: 'batch/x', data: {} } };
    const send = (calls: number) => {
      const batch = Array.from({ length: calls }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }));
      return fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(batch),
      });
    };
    const within = await send(15);
    expect([within.status, within.headers.get('ratelimit')?.slice(0, 13)]).to.deep.equal([200, '"api-key";r=5']);
    expect((await within.text()).split('internal_id').length - 1).to.equal(15);
    const beyond = await send(15);
    expect([beyond.status, ((await beyond.json()) as { code: string }).code]).to.deep.equal([429, 'api_rate_exceeded']);
  });

  it('does not affect other keys, users and events', async () => {
    const { body } = await service.post('/v1/api-keys', { name: 'Other', access: 'read' }, session);
    const other = { authorization: `Bearer ${body.data.secret}` };
    expect((await service.get('/v1/events', other)).status).to.equal(200);
    for (let n = 0; n < 25; n++) {
      const { status, headers } = await service.get('/v1/events?limit=1', session);
      expect([status, headers.get('ratelimit-policy')]).to.deep.equal([200, '"user";q=6000;w=60']);
    }
    for (let n = 0; n < 25; n++) {
      expect((await service.post(service.eventPath, { name: 'limit/x', data: {} })).status).to.equal(200);
    }
  });

  it('allows a user 6,000 requests a minute over all sessions', async () => {
    const { id } = (await service.get('/auth/me', session)).body.data;
    const key = `${service.prefix}:api-rate-limit:60:user:${id}`;
    await service.redis.set(key, 6_000, 'PX', 60_000);
    const other = await sessionHeaders(service, 'ada@example.com');
    const { status, body } = await until(
      async () => {
        const response = await service.get('/v1/events?limit=1', other);
        return response.status === 429 && response;
      },
      { describe: 'the process has read the count' },
    );
    expect([status, body.code]).to.deep.equal([429, 'api_rate_exceeded']);
    await service.redis.del(key);
  });

  it('sets no limit if it is 0', async () => {
    const unlimited = await startService({ dev: false, workers: 0, env: { API_RATE_LIMIT: '0' } });
    try {
      const { status, headers } = await unlimited.get('/v1/events', unlimited.apiHeaders);
      expect([status, headers.get('ratelimit')]).to.deep.equal([200, null]);
    } finally {
      await unlimited.stop();
    }
  });
});
