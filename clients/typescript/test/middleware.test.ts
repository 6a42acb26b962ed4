import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import {
  ConfigError,
  type EncryptionOptions,
  encryption,
  inject,
  type Middleware,
  NonRetriableError,
  referenceFunction,
  Tidegate,
} from 'tidegate';
import { serve } from 'tidegate/node';
import { testFunction } from 'tidegate/test';
import { runCall } from '../src/run-call.ts';
import { hashStepId } from '../src/steps/ids.ts';
import { rejection, useCleanEnv, useServers } from './servers.ts';
import { type CallOptions, memos } from './steps/app.ts';

const triggers = { event: 'order/paid' };
const event = { data: { total: 3 } };
const KEY = '0123456789abcdef0123456789abcdef';

/** A middleware that notes when each of its hooks begins and ends. */
function noting(name: string, lines: string[]): Middleware {
  const around = async <T>(what: string, next: () => Promise<T>): Promise<T> => {
    lines.push(`${name} ${what}`);
    const result = await next();
    lines.push(`${name} ${what} done`);
    return result;
  };
  return {
    name,
    onRun: (_, next) => around('run', next),
    onStep: (step, next) => around(`step ${step.name}`, next),
    onSend: (_, next) => around('send', next),
    encode: (value, kind) => {
      lines.push(`${name} encodes ${kind}`);
      return { [name]: value };
    },
    decode: (value, kind) => {
      lines.push(`${name} decodes ${kind}`);
      return (value as Record<string, unknown>)[name];
    },
  };
}

describe('Middleware', () => {
  useCleanEnv();
  const { listen, startService } = useServers();

  /** Calls the only function of the client like the service. */
  async function call(
    client: Tidegate,
    fn: Parameters<typeof serve>[0]['functions'][number],
    options: CallOptions = {},
  ) {
    const origin = await listen(serve({ client, functions: [fn] }));
    const { steps = {}, order = Object.keys(steps), stepId } = options;
    const body = {
      event: { name: 'order/paid', data: { total: 3 }, id: '01E', ts: 1 },
      steps: memos(steps),
      ctx: {
        run_id: '01R',
        attempt: 0,
        max_attempts: 5,
        stack: { stack: order.map(hashStepId), current: order.length },
      },
    };
    const step = stepId === undefined ? 'step' : hashStepId(stepId);
    const response = await fetch(`${origin}/?fnId=shop-fn&stepId=${step}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      body: (await response.json()) as { message?: string },
      noRetry: response.headers.get('x-service-no-retry'),
    };
  }

  it("wraps runs, steps and sends in its order, the client's around the function's", async () => {
    const lines: string[] = [];
    const service = await startService({ body: { ids: ['01A'] } });
    const client = new Tidegate({
      id: 'shop',
      isDev: true,
      baseUrl: service.url,
      middleware: [noting('a', lines), noting('b', lines)],
    });
    await client.send({ name: 'order/paid', data: { total: 3 } });
    expect(lines.splice(0)).to.deep.equal([
      'a send',
      'b send',
      'b encodes event',
      'a encodes event',
      'b send done',
      'a send done',
    ]);
    expect(JSON.parse(service.requests[0]?.body ?? '')[0].data).to.deep.equal({ a: { b: { total: 3 } } });

    const fn = client.createFunction({ id: 'fn', triggers, middleware: [noting('c', lines)] }, ({ event, step }) =>
      step.run('one', () => event.data.total),
    );
    const { result } = await testFunction(fn, { event });
    expect(result).to.equal(3);
    expect(lines.filter((line) => !/codes/.test(line))).to.deep.equal([
      ...['a run', 'b run', 'c run'],
      ...[
        'a run',
        'b run',
        'c run',
        'a step one',
        'b step one',
        'c step one',
        'c step one done',
        'b step one done',
        'a step one done',
      ],
      ...['a run', 'b run', 'c run', 'c run done', 'b run done', 'a run done'],
    ]);
    const coded = lines.filter((line) => /(en|de)codes (step|output)/.test(line));
    expect(coded.slice(0, 6)).to.deep.equal([
      ...['c encodes step', 'b encodes step', 'a encodes step'],
      ...['a decodes step', 'b decodes step', 'c decodes step'],
    ]);
  });

  it('adds values to the context of handlers and of onFailure', async () => {
    const client = new Tidegate({
      id: 'shop',
      isDev: true,
      middleware: [inject({ db: { find: (id: number) => `row ${id}` } })],
    });
    const fn = client.createFunction(
      { id: 'fn', triggers, middleware: [inject({ user: 'ada' })], onFailure: ({ db, user }) => [db.find(2), user] },
      ({ db, user }) => [db.find(1), user],
    );
    expect((await testFunction(fn)).result).to.deep.equal(['row 1', 'ada']);
    const failed = { data: { error: { name: 'Error', message: 'no' }, event: { name: 'order/paid', data: {} } } };
    const { onFailure } = fn;
    expect(onFailure && (await testFunction(onFailure, { event: failed })).result).to.deep.equal(['row 2', 'ada']);
  });

  it('replaces events, arguments of steps, results, outputs and events that are sent', async () => {
    const changing: Middleware = {
      name: 'changing',
      async onRun(call, next) {
        call.event = { ...call.event, data: { ...call.event.data, total: 10 } };
        return { output: await next(), of: call.functionId };
      },
      async onStep(step, next) {
        step.args = step.args.map((n) => Number(n) + 1);
        return [step.id, await next()];
      },
      onSend(send, next) {
        send.events = send.events.map((event) => ({ ...event, user: { run: send.runId } }));
        return next();
      },
    };
    const client = new Tidegate({ id: 'shop', isDev: true, middleware: [changing] });
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ event, events, step }) => {
      const doubled = await step.run('double', (n: number) => n * 2, event.data.total);
      await step.sendEvent('tell', { name: 'order/told', data: {} });
      return [doubled, events[0]?.data.total];
    });
    const { result, sent } = await testFunction(fn, { event });
    expect(result).to.deep.equal({ output: [['double', 22], 10], of: 'fn' });
    expect(sent).to.deep.equal([{ name: 'order/told', data: {}, user: { run: 'test-run' } }]);
  });

  it('keeps its own asynchronous context around the handler and its steps', async () => {
    const tenant = new AsyncLocalStorage<string>();
    const client = new Tidegate({
      id: 'shop',
      isDev: true,
      middleware: [{ name: 'tenant', onRun: (_, next) => tenant.run('acme', next) }],
    });
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ step }) => [
      tenant.getStore(),
      await step.run('one', () => tenant.getStore()),
    ]);
    expect((await testFunction(fn)).result).to.deep.equal(['acme', 'acme']);
  });

  it('fails the call when it throws; the call is retried unless the error is a NonRetriableError', async () => {
    const failing = (error: Error): Middleware => ({ name: 'failing', onRun: async () => Promise.reject(error) });
    const client = new Tidegate({ id: 'shop', isDev: true });
    for (const stepId of [undefined, 'one']) {
      const options = stepId === undefined ? {} : { stepId };
      const retried = client.createFunction(
        { id: 'fn', triggers, middleware: [failing(new Error('no database'))] },
        ({ step }) => step.run('one', () => 1),
      );
      expect(await call(client, retried, options)).to.deep.include({ status: 500, noRetry: 'false' });
      const final = client.createFunction(
        { id: 'fn', triggers, middleware: [failing(new NonRetriableError('no tenant'))] },
        ({ step }) => step.run('one', () => 1),
      );
      const { status, body } = await call(client, final, options);
      expect([status, body.message]).to.deep.equal([400, 'no tenant']);
    }
  });

  it('fails only the step when onStep throws', async () => {
    const client = new Tidegate({ id: 'shop', isDev: true });
    const middleware: Middleware[] = [
      { name: 'limit', onStep: () => Promise.reject(new NonRetriableError('not now')) },
    ];
    const fn = client.createFunction({ id: 'fn', triggers, middleware }, ({ step }) =>
      step.run('one', () => 1).catch((error) => error.message),
    );
    expect((await testFunction(fn)).result).to.equal('not now');
  });

  it('decodes in the order of completion, so that races have the same winner', async () => {
    const slow: Middleware = {
      name: 'slow',
      encode: (value) => value,
      decode: async (value, kind) => {
        if (kind === 'step' && value === 'b') await new Promise((resolve) => setTimeout(resolve, 20));
        return value;
      },
    };
    const client = new Tidegate({ id: 'shop', isDev: true, middleware: [slow] });
    const fn = client.createFunction({ id: 'fn', triggers }, ({ step }) =>
      Promise.race([step.run('a', () => 'a'), step.run('b', () => 'b')]),
    );
    const steps = { a: { data: 'a' }, b: { data: 'b' } };
    expect((await call(client, fn, { steps, order: ['b', 'a'] })).body).to.equal('b');
    expect((await call(client, fn, { steps, order: ['a', 'b'] })).body).to.equal('a');
  });

  it('is rejected with a misspelled hook, without a name, or with a value that handlers already have', async () => {
    const wrong = (middleware: unknown) => () => new Tidegate({ id: 'shop', middleware: middleware as Middleware[] });
    expect(wrong([{ name: 'a', onRunn() {} }])).to.throw(
      TypeError,
      'The middleware "a" has no option "onRunn"; did you mean "onRun"?',
    );
    expect(wrong([{ onRun() {} }])).to.throw(TypeError, 'a middleware is an object with a name');
    expect(wrong({ name: 'a' })).to.throw(TypeError, 'middleware must be a list');
    const client = new Tidegate({ id: 'shop', isDev: true });
    const fn = client.createFunction({ id: 'fn', triggers, retries: 0, middleware: [inject({ step: 1 })] }, () => 1);
    const { error } = await testFunction(fn);
    expect((error as Error).message).to.equal('A middleware cannot add "step": handlers have it already');
  });

  it('calls the handler of a run once', async () => {
    const client = new Tidegate({ id: 'shop', isDev: true });
    const twice: Middleware = { name: 'twice', onRun: async (_, next) => [await next(), await next()] };
    const fn = client.createFunction({ id: 'fn', triggers, retries: 0, middleware: [twice] }, () => 1);
    const { error } = await testFunction(fn);
    expect((error as Error).message).to.equal('The middleware "twice" called next() of a run twice');
  });
});

describe('The encryption middleware', () => {
  const clientOf = (options: Partial<EncryptionOptions>) =>
    new Tidegate({ id: 'shop', isDev: true, middleware: [encryption({ key: KEY, ...options })] });
  const client = clientOf({});

  for (const options of [{}, { version: 2 }, { strict: true }] as const)
    it(`is not seen by tests of functions, with ${JSON.stringify(options)}`, () => isNotSeen(clientOf(options)));

  async function isNotSeen(client: Tidegate) {
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ event, step }) => {
      const card = await step.run('card', () => event.data.encrypted.card);
      await step.sendEvent('tell', { name: 'order/told', data: { encrypted: card } });
      const answer = await step.waitForEvent('wait', { event: 'order/answered', timeout: '1d' });
      const lead = await step.invoke('lead', { function: referenceFunction({ appId: 'crm', functionId: 'enrich' }) });
      const { status } = await step.fetch('fetch', 'https://example.com');
      return { card, answer: answer?.data.encrypted, lead, status };
    });
    const { result, steps, sent } = await testFunction(fn, {
      event: { data: { encrypted: { card: '4242' } } },
      steps: { wait: { data: { encrypted: 'yes' } }, lead: { score: 7 }, fetch: { status: 204 } },
    });
    expect(result).to.deep.equal({ card: '4242', answer: 'yes', lead: { score: 7 }, status: 204 });
    expect(steps.map(({ data }) => data)[0]).to.equal('4242');
    expect(sent).to.deep.equal([{ name: 'order/told', data: { encrypted: '4242' } }]);
  }

  it('tells other middleware the location of each value, and every possible location of a result of a re-run from a step', async () => {
    const places: unknown[] = [];
    const noting: Middleware = {
      name: 'noting',
      encode: (value, kind, place) => places.push([kind, place]) && value,
      decode: (value, kind, where) => places.push([kind, where]) && value,
    };
    const fn = new Tidegate({ id: 'shop', isDev: true, middleware: [noting] }).createFunction(
      { id: 'fn', triggers },
      async ({ step }) => {
        await step.run('one', () => 1);
        return step.run('two', () => 2);
      },
    );
    const events = [{ name: 'order/paid', data: {}, id: '01E', ts: 1 }];
    const memos = { [hashStepId('one')]: { data: 1 } };
    const given = { runId: '01R', rerunOf: ['01Q'], attempt: 0, maxAttempts: 1, order: Object.keys(memos), memos };
    const rest = {
      event: events[0] as (typeof events)[number],
      events,
      disableImmediateExecution: false,
      takesLogs: false,
    };
    const none = async () => undefined as never;
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    await runCall(fn as never, { ...given, ...rest }, undefined, {
      logger,
      sendEvents: none,
      sendSignal: none,
      publish: none,
    });
    expect(places).to.deep.equal([
      ['event', [['event', 'order/paid']]],
      ['step', ['01R', '01Q'].map((run) => ['step', hashStepId('one'), 'shop-fn', run])],
      ['step', ['step', hashStepId('two'), 'shop-fn', '01R']],
    ]);
  });

  it('requires the location in version 2, and says so', async () => {
    const { encode, decode } = encryption({ key: KEY, version: 2 });
    const needs = 'binds values to their places: encode and decode need the place';
    expect((await rejection(Promise.resolve(encode?.(1, 'step')))).message).to.include(needs);
    const encoded = await encode?.(1, 'step', ['step', 'a', 'shop-fn', '01R']);
    expect((await rejection(Promise.resolve(decode?.(encoded, 'step')))).message).to.include(needs);
  });

  it('is rejected if `strict` is neither true nor false', () => {
    expect(() => encryption({ key: KEY, strict: 'yes' as never })).to.throw(ConfigError, 'must be true or false');
  });

  it('fails a run that uses an unknown key, and names the key', async () => {
    const other = new Tidegate({ id: 'shop', isDev: true, middleware: [encryption({ key: `other ${KEY}` })] });
    const { encode } = encryption({ key: KEY });
    const fn = other.createFunction({ id: 'fn', triggers, middleware: [] }, ({ event }) => event.data);
    const { decode } = fn.middleware[0] as Middleware;
    const error = await rejection(Promise.resolve(decode?.(await encode?.(1, 'step'), 'step')));
    expect(error.message).to.equal(
      'A value is encrypted with the key 1c76ed0c80ed3181, which is not among the keys of encryption(): put that key into fallbackKeys',
    );
  });

  it('leaves the result of a step that returns nothing absent', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ step }) => {
      await step.run('nothing', () => {});
    });
    const { result, steps } = await testFunction(fn);
    expect([result, steps[0]?.data]).to.deep.equal([null, null]);
  });
});
