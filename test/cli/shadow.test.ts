import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

const paid = { id: 'paid', triggers: [{ event: 'order/paid', expression: 'event.data.total > 10' }] };
const dear = { id: 'dear', triggers: [{ event: 'order/paid', expression: 'event.data.total > 100' }] };

describe('tidegate shadow', () => {
  let there: Service;
  let here: Service;
  let app: AppHost;
  /** The same app, as it is registered here. */
  let copy: AppHost;

  beforeEach(async () => {
    [there, here, app, copy] = await Promise.all([
      startService({ dev: false }),
      startService(),
      startAppHost(),
      startAppHost(),
    ]);
    await app.register(there, [paid, dear], { appName: 'shop' });
  });
  afterEach(async () => {
    await Promise.all([there.stop(), here.stop(), app.close(), copy.close()]);
  });

  const registerHere = (functions: FunctionSpec[], branch = 'shadow') =>
    copy.register(here, functions, { appName: 'shop', headers: { 'x-service-env': branch } });

  /** Sends orders to the other server, and waits for the runs on them. */
  async function sendThere(totals: Record<number, number>): Promise<string[]> {
    const sent: string[] = [];
    for (const [total, runs] of Object.entries(totals)) {
      const { body } = await there.post(there.eventPath, { name: 'order/paid', data: { total: Number(total) } });
      sent.push(body.ids[0]);
      await there.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.length === runs);
    }
    return sent;
  }

  const args = () => ['shadow', '--from', there.url, '--settle', '1s', '--once'];
  const options = () => ({ service: here, env: { SHADOW_FROM_KEY: there.env.SIGNING_KEY as string } });

  it('finds no difference for the same app, calls nothing, and counts an event once over several runs', async () => {
    await registerHere([paid, dear]);
    await sendThere({ 20: 1, 200: 2 });
    const { stdout, stderr } = await cliOk(args(), options());
    expect(stdout).to.equal('2 events: 2 alike, 0 different (0 differences), 0 not compared\n');
    expect(stderr).to.include('Paused 2 functions in shadow');
    expect((await cliOk(args(), options())).stdout).to.equal(stdout);
    const { body } = await here.get('/v1/events', { 'x-service-env': 'shadow' });
    expect(body.data.map(({ data }: { data: object }) => data)).to.deep.equal([{ total: 200 }, { total: 20 }]);
    expect([app.calls().length, copy.calls().length]).to.deep.equal([3, 0]);
  });

  it('reports functions that run on one side only, says why they would not run here, and exits with 7', async () => {
    const cheap = { id: 'cheap', triggers: [{ event: 'order/paid', expression: 'event.data.total < 50' }] };
    const once = { id: 'once', triggers: [{ event: 'order/paid' }], rateLimit: { limit: 1, period: '1h' } };
    await registerHere([
      { ...paid, triggers: [{ event: 'order/paid', expression: 'event.data.total > 50' }] },
      cheap,
      once,
    ]);
    const [first, second] = await sendThere({ 20: 1, 200: 2 });
    const { exitCode, stdout } = await cli(args(), options());
    expect(stdout.trim().split('\n')).to.deep.equal([
      `${first}  order/paid  shop-paid  ran there, would not run here: expression_false`,
      `${first}  order/paid  shop-cheap  would run here, did not run there`,
      `${second}  order/paid  shop-dear  ran there, would not run here: not_registered`,
      '2 events: 0 alike, 2 different (3 differences), 2 not compared',
    ]);
    expect([exitCode, copy.calls().length]).to.deep.equal([7, 0]);
    const json = await cli([...args(), '--json'], options());
    const lines = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[1]).to.include({ kind: 'difference', there_id: first, function_id: 'shop-cheap', where: 'here' });
    expect(lines.at(-1)).to.include({ kind: 'summary', different: 2 });
  });

  it('calls the selected functions, and compares status and output of their runs', async () => {
    const quote = { id: 'quote', triggers: [{ event: 'order/paid' }] };
    const refund = { id: 'refund', triggers: [{ event: 'order/paid' }], retries: 0 };
    const nightly = { id: 'nightly', triggers: [{ cron: '0 3 * * *' }] };
    await app.register(there, [quote, refund], { appName: 'shop' });
    await registerHere([quote, refund, paid, nightly]);
    for (const { host, rate } of [
      { host: app, rate: 2 },
      { host: copy, rate: 3 },
    ]) {
      const total = (call: { body: { event: { data: { total: number } } } }) => call.body.event.data.total;
      host.on('quote', (call) => ({ body: total(call) > 100 ? { rate, id: 1 } : { id: 1, rate: 0 } }));
      host.on('refund', () => (host === app ? { body: null } : { status: 400, body: { name: 'E', message: 'no' } }));
    }
    const [, second] = await sendThere({ 20: 2, 200: 2 });
    await there.waitFor('/v1/runs?status=Completed', ({ body }) => body.data.length === 4);
    const both = [...args(), '--call', 'shop-quote,shop-refund'];
    const { exitCode, stdout } = await cli([...both, '--json'], options());
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const differences = found.filter(({ where }) => where === 'both');
    expect(differences.map(({ function_id, reason }) => [function_id, reason])).to.have.deep.members([
      ['shop-refund', 'status'],
      ['shop-refund', 'status'],
      ['shop-quote', 'output'],
    ]);
    const other = differences.find(({ reason }) => reason === 'output');
    expect(other).to.include({ there_id: second });
    expect(Object.values(other.runs)).to.have.nested.property('[1].status', 'Completed');
    expect(found.at(-1)).to.include({ events: 2, different: 2, not_compared: 0 });
    expect([exitCode, copy.calls('paid').length, copy.calls('quote').length]).to.deep.equal([7, 0, 2]);
    const again = await cli(both, options());
    expect(again.stdout).to.include('ended differently: Completed there, Failed here');
    expect(again.stdout).to.include('returned something else: run ');
    expect(copy.calls('quote')).to.have.length(2);
    const scheduled = await cli([...args(), '--call', 'shop-nightly'], options());
    expect([scheduled.exitCode, scheduled.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && text.includes('shop-nightly has a schedule'),
    );
  });

  it('works in production with an API key, or with an event key of the branches', async () => {
    const production = await startService({ dev: false });
    const owner = '/v1/environments/branches/signing-key';
    const { current } = (await production.get(owner)).body.data;
    const headers = { authorization: `Bearer ${current}`, 'x-service-env': 'shadow' };
    const registered = await copy.register(production, [paid], { appName: 'shop', headers });
    expect(registered.status, JSON.stringify(registered.body)).to.equal(200);
    await sendThere({ 20: 1 });
    const key = { name: 'shadow', environment: 'branches' };
    const { secret } = (await production.post('/v1/event-keys', key, production.apiHeaders)).body.data;
    for (const TIDEGATE_EVENT_KEY of ['', secret]) {
      const env = { ...options().env, TIDEGATE_EVENT_KEY };
      const { stdout } = await cliOk(args(), { service: production, env });
      expect(stdout).to.equal('1 events: 1 alike, 0 different (0 differences), 0 not compared\n');
    }
    expect(copy.calls()).to.deep.equal([]);
    await production.stop();
  });

  it('works only in a branch environment, because it pauses functions', async () => {
    const missing = await cli(args(), options());
    expect([missing.exitCode, missing.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 3 && text.includes('INNGEST_ENV=shadow'),
    );
    await copy.register(here, [paid], { appName: 'shop' });
    const production = await cli([...args(), '--env', 'production'], options());
    expect(production.exitCode).to.equal(2);
    expect((await here.get('/v1/functions/shop-paid')).body.data.paused_at).to.equal(null);
  });

  it('reads a server that returns bare lists, pages without a cursor, and functions with its own IDs', async () => {
    await registerHere([paid]);
    const [uuid, now] = ['6f3e1f7a-8f5f-4c1e-9a53-0f6f0b9d2c11', new Date().toISOString()];
    const events = Array.from({ length: 120 }, (_, n) => ({
      internal_id: `01JD00000000000000000000${String(n).padStart(2, '0')}`,
      name: n === 7 ? 'inngest/function.finished' : 'order/paid',
      data: { total: 20 },
      received_at: now,
    }));
    const dataFor = ({ pathname, searchParams }: URL) => {
      if (pathname.endsWith('/runs')) return [{ function_id: uuid }];
      if (pathname === '/v1/apps/shop/functions') return [{ ID: uuid, Slug: 'shop-paid' }];
      const from = events.findIndex(({ internal_id }) => internal_id === searchParams.get('cursor')) + 1;
      return events.slice(from, from + Number(searchParams.get('limit')));
    };
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(dataFor(new URL(request.url ?? '', 'http://there'))));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stdout } = await cliOk(['shadow', '--from', from, '--settle', '1s', '--once'], options());
    server.close();
    expect(stdout).to.equal('119 events: 119 alike, 0 different (0 differences), 0 not compared\n');
  });
});
