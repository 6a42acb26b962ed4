/** A request is authorized by its headers, and its body may take a minute: what is true then counts. */
import { createConnection } from 'node:net';
import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import type { Environment, EnvironmentKind } from '../../src/model/environment.ts';
import { addUser, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { type Service, startService } from '../support/service.ts';
import { slowPost } from '../support/slow-request.ts';
import { until } from '../support/until.ts';

describe('requests with slow bodies', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  const environments = () => `${service.prefix}:environments`;
  const of = (env: string) => ({ ...service.apiHeaders, 'x-service-env': env });
  const registration = { url: 'http://127.0.0.1:9/', appName: 'shop', sdk: 'test:v1', functions: [] };
  let made = 0;

  /** As if another process had made it. */
  async function make(name: string, kind: EnvironmentKind, createdAt = Date.now()): Promise<void> {
    const environment: Environment = { name, kind, createdAt };
    await service.redis.hset(environments(), name, JSON.stringify(environment));
    // The process reads all of them again.
    await service.post('/v1/environments', { name: `other-${made++}` }, service.apiHeaders);
  }

  /** A new key, so that the process reads it for the first request that proves it. */
  async function branchKey(): Promise<Record<string, string>> {
    const { body } = await service.post('/v1/environments/branches/signing-key/rotate', {}, service.apiHeaders);
    return { 'x-service-sdk': 'test:v1.0.0', authorization: `Bearer ${hashedKey(body.data.current)}` };
  }

  /** Resolves when the guard of apps has read the key. */
  async function guarded<T>(start: () => T): Promise<T> {
    // ioredis fails if a line of MONITOR comes in the same packet as the reply to it.
    const { hostname, port } = new URL(service.env.REDIS_URL as string);
    const monitor = createConnection(Number(port), hostname).setEncoding('utf8');
    let lines = '';
    monitor.on('data', (text) => (lines += text));
    try {
      monitor.write('MONITOR\r\n');
      await until(() => lines.includes('+OK'), { describe: 'Redis shows commands' });
      const started = start();
      await until(() => lines.includes(`"${service.prefix}:signing-keys"`), { describe: 'the key is read' });
      return started;
    } finally {
      monitor.destroy();
    }
  }

  it('POST /fn/register with the key of branches does not register in a named environment that was created meanwhile', async () => {
    const headers = { ...(await branchKey()), 'x-service-env': 'prod-eu' };
    const request = await guarded(() => slowPost(`${service.url}/fn/register`, registration, headers));
    await make('prod-eu', 'named');
    const { status, body } = await request.finish();
    expect([status, body.code]).to.deep.equal([409, 'environment_changed']);
    expect((await service.get('/v1/apps', of('prod-eu'))).body.data).to.deep.equal([]);
  });

  it('POST /fn/register registers in a branch that another instance of the app created meanwhile', async () => {
    const headers = { ...(await branchKey()), 'x-service-env': 'feature/two' };
    const request = await guarded(() => slowPost(`${service.url}/fn/register`, registration, headers));
    await make('feature/two', 'branch');
    expect((await request.finish()).status).to.equal(200);
  });

  it('POST /e/:key with a key of branches sends nothing to a named environment that has replaced the branch', async () => {
    await make('feature/e', 'branch', 1);
    const key = (await service.post('/v1/event-keys', { name: 'b', environment: 'branches' }, service.apiHeaders)).body;
    const event = { name: 'a/b', data: {} };
    const request = slowPost(`${service.url}/e/${key.data.secret}`, event, { 'x-service-env': 'feature/e' });
    await until(() => service.redis.hexists(`${service.prefix}:event-key-uses`, key.data.id), {
      describe: 'the event key was used',
    });
    await make('feature/e', 'named');
    const { status, body } = await request.finish();
    expect([status, body.code]).to.deep.equal([409, 'environment_changed']);
  });

  it('POST /e/:key with a key that is deleted before the body arrived sends nothing', async () => {
    const { data: key } = (await service.post('/v1/event-keys', { name: 'late' }, service.apiHeaders)).body;
    const request = slowPost(`${service.url}/e/${key.secret}`, { name: 'late/x', data: {} }, {});
    await until(() => service.redis.hexists(`${service.prefix}:event-key-uses`, key.id), {
      describe: 'the event key was used',
    });
    await service.request('DELETE', `/v1/event-keys/${key.id}`, undefined, service.apiHeaders);
    const { status, body } = await request.finish();
    expect([status, body.code]).to.deep.equal([401, 'key_unknown']);
  });

  /** Resolves when the guard has seen the API key. */
  const used = (id: string) =>
    until(() => service.redis.hexists(`${service.prefix}:api-key-uses`, id), { describe: 'the API key was used' });
  const newKeyId = async () => (await service.get('/v1/api-keys')).body.data.at(-1).id;

  it('the REST API with a key of a branch changes nothing in an environment that has replaced it', async () => {
    await make('feature/r', 'branch', 1);
    const headers = await keyHeaders(service, 'write', 'feature/r');
    const request = slowPost(`${service.url}/v1/events`, { name: 'a/b', data: {} }, headers);
    await used(await newKeyId());
    await make('feature/r', 'named');
    const { status, body } = await request.finish();
    expect([status, body.code]).to.deep.equal([409, 'environment_changed']);
  });

  it('the REST API rejects a request whose key was revoked before its body arrived', async () => {
    const headers = await keyHeaders(service, 'admin');
    const id = await newKeyId();
    const request = slowPost(`${service.url}/v1/environments`, { name: 'late' }, headers);
    await used(id);
    await service.request('DELETE', `/v1/api-keys/${id}`, undefined, service.apiHeaders);
    expect((await request.finish()).status).to.equal(401);
    expect((await service.get('/v1/environments/late')).status).to.equal(404);
  });

  it('/mcp rejects a request whose key was revoked before its body arrived', async () => {
    const headers = { ...(await keyHeaders(service, 'write')), accept: 'application/json, text/event-stream' };
    const id = await newKeyId();
    const params = { name: 'send_event', arguments: { name: 'late/x', data: {} } };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const request = slowPost(`${service.url}/mcp`, call, headers);
    await used(id);
    await service.request('DELETE', `/v1/api-keys/${id}`, undefined, service.apiHeaders);
    const { status, body } = await request.finish();
    expect([status, body.code]).to.deep.equal([401, 'credentials_invalid']);
  });

  it('the REST API rejects a request whose session ended before its body arrived', async () => {
    await addUser(service, 'ada@example.com', 'admin');
    const sessions = () => service.redis.keys(`${service.prefix}:session:*`);
    await service.redis.del(await sessions());
    const headers = await sessionHeaders(service, 'ada@example.com');
    const [session = ''] = await sessions();
    await service.redis.pexpire(session, 60_000);
    const request = slowPost(`${service.url}/v1/environments`, { name: 'later' }, headers);
    // A use extends the session.
    await until(async () => (await service.redis.pttl(session)) > 60_000, { describe: 'the session was used' });
    await service.redis.del(session);
    expect((await request.finish()).status).to.equal(401);
  });
});
