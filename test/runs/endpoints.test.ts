/** Runs of endpoints on the wire (docs/protocol.md#endpoints). */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ulid } from 'ulid';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

const hash = (name: string) => createHash('sha1').update(name).digest('hex');
const op = (kind: string, name: string, rest: object = {}) => ({ op: kind, id: hash(name), name, ...rest });
const ran = (name: string) => op('StepRun', name, { data: name });
const complete = (data: unknown) => ({ op: 'RunComplete', id: hash('complete'), data });

describe('Runs of endpoints', () => {
  let service: Service;
  let domain: string;
  const calls: { request: IncomingMessage; body: string }[] = [];
  const server = createServer(async (request, response) => {
    calls.push({ request, body: await text(request) });
    response.writeHead(206, { 'content-type': 'application/json', 'x-inngest-sdk': 'test:v1.0.0' });
    response.end(JSON.stringify(complete('from the call')));
  });
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005', APPS_MAX: '1' } });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    domain = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await service.stop();
  });
  beforeEach(() => calls.splice(0));

  const requestOf = (more: object = {}) => ({ domain, method: 'POST', path: '/pay', query_params: 'n=1', ...more });
  const create = (runId: string, steps: object[], more: object = {}, path = '/v1/checkpoint') =>
    service.post(path, {
      run_id: runId,
      event: { name: 'http/run.started', data: requestOf(more) },
      steps,
      retries: 3,
    });
  const store = (runId: string, steps: object[]) => service.post(`/v1/checkpoint/${runId}/steps`, { steps });
  const runOf = async (runId: string): Promise<Loose> => (await service.get(`/v1/runs/${runId}`)).body.data;
  const ended = async (runId: string) =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at)).body.data;

  it('exist once and have each step once, however often the app repeats its requests', async () => {
    const runId = ulid();
    for (let n = 0; n < 2; n++) {
      const { status, body } = await create(runId, [ran('a')]);
      expect([status, body.data.run_id]).to.deep.equal([201, runId]);
      expect(body.data.fn_id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
    expect((await runOf(runId)).status).to.equal('Running');
    for (let n = 0; n < 2; n++)
      expect((await store(runId, [ran('b'), complete({ status: 200 })])).status).to.equal(200);
    const run = await ended(runId);
    expect([run.status, run.output]).to.deep.equal(['Completed', null]);
    const steps = run.history.filter(({ kind }: Loose) => kind === 'step').map(({ name }: Loose) => name);
    expect(steps).to.deep.equal(['a', 'b']);
    expect((await store(runId, [ran('c')])).body.code).to.equal('run_ended');
    expect(calls).to.have.length(0);
  });

  it('are taken over at the first waiting step: the service repeats the request with the ID of the run', async () => {
    const runId = ulid();
    const body = '{"total":1}';
    await create(runId, [ran('a')], { content_type: 'application/json', body });
    const sleep = op('Sleep', 'nap', { opts: { duration: '50ms' } });
    for (let n = 0; n < 2; n++) expect((await store(runId, [sleep])).status).to.equal(200);
    const { output } = await ended(runId);
    expect([output, calls.length]).to.deep.equal(['from the call', 1]);
    const [{ request, body: sent }] = calls as [(typeof calls)[0]];
    expect([request.method, request.url, sent]).to.deep.equal(['POST', '/pay?n=1', body]);
    expect(request.headers).to.include({ 'x-run-id': runId, 'x-inngest-signature': '', 'x-inngest-step-id': 'step' });
    const { body: steps } = await service.get(`/v0/runs/${runId}/actions`);
    expect(steps).to.deep.equal({ [hash('a')]: { data: 'a' }, [hash('nap')]: null });
    const zombie = await store(runId, [ran('z')]);
    expect(zombie.status).to.equal(409);
  });

  it('fail with an error of the handler, at once or after another attempt', async () => {
    const [once, again] = [ulid(), ulid()];
    const failed = (kind: string) => ({ op: kind, id: hash('complete'), error: { name: 'Error', message: 'broken' } });
    await create(once, [failed('StepFailed')]);
    expect((await ended(once)).error.message).to.equal('broken');
    await create(again, [failed('StepError')]);
    expect((await ended(again)).output).to.equal('from the call');
  });

  it('respond to the waiting client like the handler would, without harm to pages of the service', async () => {
    const [page, failed] = [ulid(), ulid()];
    const { body } = await create(page, [ran('a')]);
    const headers = { 'content-type': 'text/html', 'x-total': '3', 'set-cookie': 'session=1' };
    await store(page, [complete({ status: 418, headers, body: '<script>1</script>', version: 2 })]);
    const output = `/v1/http/runs/${page}/output?token=${body.data.token}`;
    const response = await fetch(service.url + output);
    expect([response.status, await response.text()]).to.deep.equal([418, '<script>1</script>']);
    const { 'content-security-policy': policy, ...sent } = Object.fromEntries(response.headers);
    expect(sent).to.include({ 'content-type': 'text/html', 'x-total': '3', 'cache-control': 'no-store' });
    expect(sent).to.include({ 'x-content-type-options': 'nosniff', 'access-control-allow-origin': '*' });
    expect(sent).not.to.have.property('set-cookie');
    expect(policy).to.include('sandbox');
    expect((await ended(page)).output).to.equal('<script>1</script>');

    const error = { name: 'CardRefused', message: 'no card' };
    const { token } = (await create(failed, [{ op: 'StepFailed', id: hash('complete'), error } as object])).body.data;
    const refused = await service.get(`/v1/http/runs/${failed}/output?token=${token}`);
    expect([refused.status, refused.body]).to.deep.equal([500, error]);
  });

  it('are also created and ended in the way of the official Go SDK', async () => {
    const runId = ulid();
    const body = Buffer.from('{"total":2}').toString('base64');
    const { status } = await create(runId, [ran('a')], { method: 'PUT', body, fn: 'pay' }, '/v1/http/runs');
    expect(status).to.equal(201);
    const result = { status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'paid' };
    expect((await service.post(`/v1/http/runs/${runId}/response`, { result })).status).to.equal(200);
    const run = await ended(runId);
    expect([run.function_id, run.output]).to.deep.equal([`${new URL(domain).host}-pay`, 'paid']);
  });

  it('continue when their request has died', async () => {
    const own = await startService({ env: { STALLED_AFTER_SECONDS: '1', CALL_TIMEOUT_SECONDS: '2' } });
    try {
      const runId = ulid();
      const event = { name: 'http/run.started', data: requestOf() };
      await own.post('/v1/checkpoint', { run_id: runId, event, steps: [ran('a')] });
      await own.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.output === 'from the call');
    } finally {
      await own.stop();
    }
  });

  it('are rejected without a call until somebody allows their origin', async () => {
    const elsewhere = { domain: 'http://endpoints.example' };
    const { status, body } = await create(ulid(), [ran('a')], elsewhere);
    expect([status, body.code]).to.deep.equal([403, 'endpoint_origin_unknown']);
    expect(body.error).to.include('tidegate apps allow <app> http://endpoints.example').and.include('APP_ORIGINS');
    const allow = (origins: string[]) => service.request('PUT', '/v1/allowed-origins/shop', { origins });
    expect((await allow(['http://endpoints.example/api'])).body.code).to.equal('input_invalid');
    expect((await allow(['HTTP://endpoints.example/'])).body.data.origins).to.deep.equal(['http://endpoints.example']);
    const runId = ulid();
    expect((await create(runId, [ran('a')], elsewhere)).status).to.equal(201);
    await allow([]);
    expect((await service.get('/v1/allowed-origins')).body.data).to.deep.equal([]);
    // The origin is no longer allowed when the service takes the run over.
    await store(runId, [op('Sleep', 'nap', { opts: { duration: '1ms' } })]);
    const { status: ending, error } = await ended(runId);
    expect([ending, error.name]).to.deep.equal(['Failed', 'EndpointRefused']);
  });

  it('create no apps for the hosts that clients write, which would keep other apps out', async () => {
    const { port } = new URL(domain);
    for (const host of ['a.localhost', 'b.localhost', '127.0.0.9']) {
      expect((await create(ulid(), [complete(host)], { domain: `http://${host}:${port}` })).status).to.equal(201);
    }
    expect((await service.get('/v1/apps')).body.data).to.deep.equal([]);
    const app = { url: `${domain}/api`, appName: 'shop', functions: [] };
    expect((await service.post('/fn/register', app)).status).to.equal(200);
    expect((await service.request('DELETE', `/v1/apps/${encodeURIComponent(`b.localhost:${port}`)}`)).status).to.equal(
      204,
    );
    const { body } = await service.get('/v1/functions?archived=true');
    expect(body.data.map(({ id }: Loose) => id)).to.deep.equal([`b.localhost:${port}-POST /pay`]);
  });

  it('are called at their own host, even by an invocation with the request of another host', async () => {
    await create(ulid(), [complete('first')]);
    const id = encodeURIComponent(`${new URL(domain).host}-POST /pay`);
    const data = requestOf({ domain: domain.replace('127.0.0.1', 'other.localhost') });
    const { body } = await service.post(`/v1/functions/${id}/invoke`, { data });
    const { status, error } = await ended(body.data.run_id);
    expect([status, error.name, calls.length]).to.deep.equal(['Failed', 'EndpointRefused', 0]);
  });

  it('let 20 clients wait for a response with one token, without affecting clients of other runs', async () => {
    const [crowded, other] = [ulid(), ulid()];
    const outputOf = async (runId: string) => {
      const { token } = (await create(runId, [])).body.data;
      return (headers: Record<string, string> = {}) =>
        service.get(`/v1/http/runs/${runId}/output?token=${token}`, headers);
    };
    const [crowd, alone] = [await outputOf(crowded), await outputOf(other)];
    const waiting = Array.from({ length: 20 }, () => crowd());
    const refused = await until(
      async () => {
        const one = await Promise.race([crowd(), ...waiting]);
        return one.status === 429 && one;
      },
      { describe: 'the next client is refused' },
    );
    expect(refused.body.code).to.equal('too_many_connections');
    await store(other, [complete('done')]);
    expect((await alone()).status).to.equal(200);
    await store(crowded, [complete('done')]);
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).to.have.length.above(15);
  });

  it('are rejected for a hostile request', async () => {
    const codes: unknown[] = [];
    const codeOf = async (runId: string, more: object) => codes.push((await create(runId, [], more)).body.code);
    await codeOf('not-a-ulid', {});
    await codeOf(ulid(Date.now() - 3 * 86_400_000), {});
    await codeOf(ulid(), { path: '//elsewhere.example/x' });
    await codeOf(ulid(), { domain: 'file:///etc' });
    await codeOf(ulid(), { method: 'CONNECT' });
    await codeOf(ulid(), { content_type: 'a\r\nx-evil: 1' });
    await codeOf(ulid(), { body: 'x'.repeat(4_000_000) });
    expect(codes).to.deep.equal([...Array(6).fill('input_invalid'), 'body_too_large']);
    await until(async () => (await service.get('/v1/runs?status=Running')).body.data.length === 0, {
      describe: 'no run is left',
    });
  });
});
