import { expect } from 'chai';
import { type ClientOptions, encryption, type Logger, Tidegate } from 'tidegate';
import { serve as serveCloudflare } from 'tidegate/cloudflare';
import { serve } from 'tidegate/node';
import { until } from '../../../test/support/until.ts';
import { hashStepId } from '../src/steps/ids.ts';
import { type FakeService, useCleanEnv, useServers } from './servers.ts';

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
// biome-ignore lint/suspicious/noExplicitAny: a handler of any tools
type Handler = (context: any) => unknown;

describe('The log of a handler', () => {
  useCleanEnv();
  const { listen, startService, deadUrl } = useServers();

  interface Asked extends Partial<ClientOptions> {
    ctx?: object;
    steps?: Record<string, unknown>;
    stepId?: string;
  }

  async function call(handler: Handler, { ctx = { logs: true }, steps = {}, stepId = 'step', ...options }: Asked) {
    const client = new Tidegate({ id: 'shop', isDev: true, logger: SILENT, ...options });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, handler as never);
    const url = await listen(serve({ client, functions: [fn] }));
    const stack = { stack: Object.keys(steps) };
    const body = JSON.stringify({
      ctx: { run_id: '01R', attempt: 1, stack, ...ctx },
      event: { name: 'a', data: {} },
      steps,
    });
    const response = await fetch(`${url}?fnId=shop-fn&stepId=${stepId}`, { method: 'POST', body });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  /** @returns the one batch that the service gets */
  async function batchOf(service: FakeService) {
    await until(() => service.requests.length > 0, { describe: 'the lines arrive' });
    expect(service.requests).to.have.lengthOf(1);
    const [{ method, url, body }] = service.requests as [FakeService['requests'][number]];
    expect([method, url]).to.deep.equal(['POST', '/v0/runs/01R/logs']);
    return JSON.parse(body);
  }

  it('is sent to the service with time, level, fields, step and attempt', async () => {
    const service = await startService({ body: {} });
    const before = Date.now();
    const response = await call(
      async ({ logger, step }) => {
        logger.info('start', { total: 3, nested: { a: [1, 10n] } });
        await step.run('charge', () => logger.warn({ card: 'A1' }, 'slow', 7));
      },
      { baseUrl: service.url },
    );
    expect(response.body[0].op).to.equal('StepRun');
    const { batch, attempt, dropped, lines } = await batchOf(service);
    expect(batch).to.match(/^[\w-]{36}$/);
    expect([attempt, dropped]).to.deep.equal([1, 0]);
    expect(lines.map(({ at, ...line }: { at: number }) => line)).to.deep.equal([
      { level: 'info', message: 'start', fields: { total: 3, nested: { a: [1, '10'] } } },
      { level: 'warn', message: 'slow 7', fields: { card: 'A1' }, step: hashStepId('charge') },
    ]);
    expect(lines[0].at).to.be.within(before, Date.now());
  });

  it('is formatted like the console does; an error becomes the message and a field', async () => {
    const service = await startService({ body: {} });
    await call(
      ({ logger }) => {
        logger.error(new TypeError('no card'));
        logger.debug('%s of %d', 'three', 5);
      },
      { baseUrl: service.url },
    );
    const [failed, formatted] = (await batchOf(service)).lines;
    expect(failed.message).to.equal('no card');
    expect(failed.fields.error).to.include({ name: 'TypeError', message: 'no card' });
    expect(formatted).to.include({ level: 'debug', message: 'three of 5' });
  });

  it('is not repeated by replayed code, nor by the calls of planned steps', async () => {
    const service = await startService({ body: {} });
    const handler: Handler = async ({ logger, step }) => {
      logger.info('start');
      await step.run('one', () => {});
      logger.info('between');
      await Promise.all([step.run('two', () => logger.info('in two')), step.run('three', () => {})]);
    };
    const steps = { [hashStepId('one')]: { data: null } };
    await call(handler, { baseUrl: service.url, steps, stepId: hashStepId('two') });
    const { lines } = await batchOf(service);
    expect(lines.map(({ message }: { message: string }) => message)).to.deep.equal(['in two']);
  });

  it('is limited to 200 lines of 8,000 characters, 64,000 in all; further lines are counted', async () => {
    const many = await startService({ body: {} });
    await call(({ logger }) => Array.from({ length: 500 }, (_, i) => logger.info(`line ${i}`)).length, {
      baseUrl: many.url,
    });
    const batch = await batchOf(many);
    expect([batch.lines.length, batch.dropped]).to.deep.equal([200, 300]);
    expect(batch.lines[199].message).to.equal('line 199');

    const long = await startService({ body: {} });
    await call(
      ({ logger }) => {
        logger.info('x'.repeat(1_000_000), { y: 'y'.repeat(1_000_000) });
        for (let i = 0; i < 50; i++) logger.info('z'.repeat(7_000));
      },
      { baseUrl: long.url },
    );
    const { lines, dropped } = await batchOf(long);
    expect(lines[0].message).to.have.lengthOf(8_000);
    expect(lines.length + dropped).to.equal(51);
    expect(JSON.stringify(lines).length).to.be.below(65_000);
  });

  it('may be any value: circular, deep, wide, or with a getter that throws', async () => {
    const service = await startService({ body: {} });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const hostile = Object.defineProperty({}, 'x', { enumerable: true, get: () => fail() });
    const fail = () => {
      throw new Error('no');
    };
    const { status } = await call(
      ({ logger }) => {
        logger.info('circular', circular);
        logger.info('wide', Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [i, i])));
        logger.info('hostile', hostile);
        logger.info(undefined, Symbol('s'), [1, 2]);
        return 1;
      },
      { baseUrl: service.url },
    );
    expect(status).to.equal(200);
    const { lines } = await batchOf(service);
    expect(Object.keys(lines[1].fields)).to.have.lengthOf(200);
    expect(lines[3].message).to.equal('undefined Symbol(s) [ 1, 2 ]');
  });

  it('is not sent if the service does not accept logs, nothing was logged, or the client disables it', async () => {
    const service = await startService({ body: {} });
    const baseUrl = service.url;
    const handler: Handler = ({ logger }) => logger.info('x');
    await call(handler, { baseUrl, ctx: {} });
    await call(() => 1, { baseUrl });
    await call(handler, { baseUrl, logs: false });
    process.env.SERVICE_LOGS = '0';
    await call(handler, { baseUrl });
    delete process.env.SERVICE_LOGS;
    // Their requests would have come before this one's.
    await call(({ logger }) => logger.info('last'), { baseUrl });
    expect((await batchOf(service)).lines[0].message).to.equal('last');
  });

  it('stays with the app if values are encrypted, unless the client enables it', async () => {
    const service = await startService({ body: {} });
    const middleware = [encryption({ key: 'a secret text of thirty-two characters' })];
    await call(({ logger }) => logger.info('secret'), { baseUrl: service.url, middleware });
    await call(({ logger }) => logger.info('told'), { baseUrl: service.url, middleware, logs: true });
    expect((await batchOf(service)).lines[0].message).to.equal('told');
  });

  it('neither delays nor changes the response when the service cannot be reached', async () => {
    const handler: Handler = ({ logger }) => {
      logger.info('x');
      return 'done';
    };
    expect(await call(handler, { baseUrl: await deadUrl() })).to.deep.equal({ status: 200, body: 'done' });
    // It never responds.
    const silent = await listen(() => {});
    expect(await call(handler, { baseUrl: silent })).to.deep.equal({ status: 200, body: 'done' });
  });

  it('is sent once more, as the same batch, after the service failed', async () => {
    const service = await startService({ status: 503, body: {} }, { body: {} });
    await call(({ logger }) => logger.info('x'), { baseUrl: service.url });
    await until(() => service.requests.length === 2, { describe: 'the second try arrives' });
    const [first, second] = service.requests.map(({ body }) => body);
    expect(second).to.equal(first);
  });

  it('is passed to waitUntil if the platform has it', async () => {
    const service = await startService({ body: {} });
    const client = new Tidegate({ id: 'shop', isDev: true, logger: SILENT, baseUrl: service.url });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, ({ logger }) => logger.info('x'));
    const body = JSON.stringify({ ctx: { run_id: '01R', logs: true }, event: { name: 'a', data: {} }, steps: {} });
    const work: Promise<unknown>[] = [];
    const request = new Request('http://app/?fnId=shop-fn&stepId=step', { method: 'POST', body });
    await serveCloudflare({ client, functions: [fn] })(
      request,
      {},
      { waitUntil: (one: Promise<unknown>) => work.push(one) },
    );
    await Promise.all(work);
    expect(work).to.have.lengthOf(1);
    expect((await batchOf(service)).lines[0].message).to.equal('x');
  });
});
