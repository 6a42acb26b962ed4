/** Not a test that runs: `tsc` checks it, and each @ts-expect-error line fails it unless the next line is an error. */
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { Tidegate } from 'tidegate';
import { serve as serveExpress } from 'tidegate/express';
import { serve as serveFastify } from 'tidegate/fastify';
import { serve as serveHono } from 'tidegate/hono';
import { serve as serveKoa } from 'tidegate/koa';
import { serve } from 'tidegate/node';
import { testFunction } from 'tidegate/test';
import { z } from 'zod';

interface OrderPaid {
  orderId: string;
  total: number;
}

interface Events {
  'order/paid': { data: OrderPaid };
  'order/shipped': { data: { orderId: string; carrier: string } };
  'stock/changed': { data: { sku: string } };
}

/** Compiles only if both types are the same. */
function same<A, B>(_proof: [A] extends [B] ? ([B] extends [A] ? true : false) : false): void {}

const typed = new Tidegate<Events>({ id: 'shop' });
const loose = new Tidegate({ id: 'shop' });

export function sending() {
  typed.send({ name: 'order/paid', data: { orderId: '7', total: 3 } });
  typed.send({ name: 'order/paid', data: { orderId: '7', total: 3 }, id: 'paid-7', ts: 1, user: { id: 1 }, v: '1' });
  typed.send([
    { name: 'order/paid', data: { orderId: '7', total: 3 } },
    { name: 'stock/changed', data: { sku: 'tea' } },
  ]);
  typed.send([]);
  // @ts-expect-error: no such event
  typed.send({ name: 'order/payed', data: { orderId: '7', total: 3 } });
  // @ts-expect-error: total is a number
  typed.send({ name: 'order/paid', data: { orderId: '7', total: '3' } });
  // @ts-expect-error: total is missing
  typed.send({ name: 'order/paid', data: { orderId: '7' } });
  // @ts-expect-error: data is missing
  typed.send({ name: 'order/paid' });
  // @ts-expect-error: this is the data of another event
  typed.send([{ name: 'stock/changed', data: { orderId: '7', total: 3 } }]);
  // @ts-expect-error: ts is in milliseconds
  typed.send({ name: 'stock/changed', data: { sku: 'tea' }, ts: new Date() });

  loose.send({ name: 'anything', data: { at: { all: 1 } } });
  // @ts-expect-error: the name is still required
  loose.send({ data: {} });
  // @ts-expect-error: data is an object
  loose.send({ name: 'anything', data: 'text' });
}

export function handling() {
  typed.createFunction({ id: 'one', triggers: { event: 'order/paid', if: 'event.data.total > 10' } }, ({ event }) => {
    same<typeof event.name, 'order/paid'>(true);
    same<typeof event.data, OrderPaid>(true);
    same<typeof event.id, string>(true);
    same<typeof event.ts, number>(true);
    // @ts-expect-error: not in this event
    event.data.carrier;
  });

  const several = [{ event: 'order/paid' }, { event: 'order/shipped' }] as const;
  typed.createFunction({ id: 'several', triggers: several }, ({ event, events, runId, attempt }) => {
    same<typeof event.name, 'order/paid' | 'order/shipped'>(true);
    same<typeof events, (typeof event)[]>(true);
    same<typeof runId, string>(true);
    same<typeof attempt, number>(true);
    // @ts-expect-error: only in one of them
    event.data.total;
    if (event.name === 'order/paid') same<typeof event.data.total, number>(true);
    else same<typeof event.data.carrier, string>(true);
  });

  typed.createFunction(
    { id: 'inline', triggers: [{ event: 'order/paid' }, { event: 'stock/changed' }] },
    ({ event }) => {
      if (event.name === 'stock/changed') same<typeof event.data.sku, string>(true);
    },
  );

  typed.createFunction({ id: 'wild', triggers: { event: 'order/*' } }, ({ event }) => {
    same<typeof event.name, string>(true);
    event.data.whatever.there.is;
  });
  typed.createFunction({ id: 'dotted', triggers: { event: 'order/refund.*' } }, ({ event }) => event.data.anything);
  typed.createFunction({ id: 'cron', triggers: { cron: '0 * * * *' } }, ({ event }) => event.data.anything);

  loose.createFunction({ id: 'loose', triggers: { event: 'anything' } }, ({ event }) => event.data.goes.here);

  // @ts-expect-error: no such event
  typed.createFunction({ id: 'a', triggers: { event: 'order/payed' } }, () => {});
  // @ts-expect-error: no such event among several
  typed.createFunction({ id: 'a', triggers: [{ event: 'order/paid' }, { event: 'order/payed' }] }, () => {});
  // @ts-expect-error: neither an event nor a schedule
  typed.createFunction({ id: 'a', triggers: {} }, () => {});
  // @ts-expect-error: triggers are missing
  typed.createFunction({ id: 'a' }, () => {});
  // @ts-expect-error: it is triggers
  loose.createFunction({ id: 'a', trigger: { event: 'a' } }, () => {});
  // @ts-expect-error: it is retries
  loose.createFunction({ id: 'a', retires: 3, triggers: { event: 'a' } }, () => {});
  // @ts-expect-error: it is period
  loose.createFunction({ id: 'a', throttle: { limit: 1, perid: '1m' }, triggers: { event: 'a' } }, () => {});
  // @ts-expect-error: the triggers are part of the config
  loose.createFunction({ id: 'a' }, { event: 'a' }, () => {});
  // @ts-expect-error: there is no third argument
  loose.createFunction({ id: 'a', triggers: { event: 'a' } }, () => {}, {});
  // @ts-expect-error: it is eventKey
  new Tidegate({ id: 'shop', evenKey: 'k' });
  // @ts-expect-error: it is path
  serve({ client: loose, functions: [], servePath: '/' });
}

export function stepping() {
  const child = typed.createFunction({ id: 'child', triggers: { event: 'order/paid' } }, async ({ event }) => ({
    paid: event.data.total > 0,
    at: new Date(),
  }));

  typed.createFunction({ id: 'steps', triggers: { event: 'order/paid' } }, async ({ step, logger, maxAttempts }) => {
    const ran = await step.run('a', async () => ({ at: new Date(), n: 1, maybe: undefined as string | undefined }));
    same<typeof ran, { at: string; n: number; maybe: string | undefined }>(true);
    const key: string = await step.run('k', ({ idempotencyKey }) => idempotencyKey);
    // @ts-expect-error: without arguments it would get the step
    step.run('l', (page?: number) => page);
    step.run('m', (page?: number) => page ?? key, 1);
    const nothing = await step.run('b', () => {});
    same<typeof nothing, null>(true);
    const lines = await step.run('c', () => [1, 2].map((n) => ({ n })));
    same<typeof lines, { n: number }[]>(true);
    // biome-ignore lint/suspicious/noExplicitAny: the test needs it
    const anything = await step.run('d', () => JSON.parse('1') as any);
    anything.whatever.there.is;

    const arrived = await step.waitForEvent('e', { event: 'order/shipped', timeout: '1d' });
    same<Exclude<typeof arrived, null>['data'], { orderId: string; carrier: string }>(true);
    // @ts-expect-error: it may be null
    arrived.data;
    // @ts-expect-error: no such event
    step.waitForEvent('e', { event: 'order/lost', timeout: '1d' });
    // @ts-expect-error: a wait requires a timeout
    step.waitForEvent('e', { event: 'order/shipped' });

    const signal = await step.waitForSignal<{ by: string }>('w', { signal: 'approval/7', timeout: '1d' });
    same<typeof signal, { signal: string; data: { by: string } } | null>(true);
    // @ts-expect-error: a wait requires a timeout
    step.waitForSignal('w', { signal: 'approval/7' });
    // @ts-expect-error: it is fail or replace
    step.waitForSignal('w', { signal: 'approval/7', timeout: '1d', conflict: 'share' });
    const heard = await step.sendSignal('g', { signal: 'approval/7' });
    same<typeof heard, string | null>(true);
    const { status, body } = await step.fetch('h', 'https://api.example.com');
    same<[typeof status, typeof body], [number, string | null]>(true);
    const first = await step.race([() => step.run('i', () => 1), async () => 'now']);
    same<typeof first, number | string>(true);
    // @ts-expect-error: a branch is a function
    step.race([step.run('i', () => 1)]);
    // @ts-expect-error: a message has a topic
    step.publish('k', { channel: 'thread:7', data: 1 });

    const invoked = await step.invoke('f', { function: child, data: { orderId: '7', total: 3 } });
    same<typeof invoked, { paid: boolean; at: string }>(true);
    // @ts-expect-error: total is missing
    step.invoke('f', { function: child, data: { orderId: '7' } });
    (await step.invoke('g', { function: 'shop-child', data: { anything: 1 } })).whatever.there.is;

    const { ids } = await step.sendEvent('h', [{ name: 'stock/changed', data: { sku: 'tea' } }]);
    same<typeof ids, string[]>(true);
    // @ts-expect-error: no such event
    step.sendEvent('h', { name: 'stock/change', data: { sku: 'tea' } });
    step.sleep('i', 1_000);
    step.sleepUntil('j', new Date());
    // @ts-expect-error: a Date or an ISO date
    step.sleepUntil('j', 1_000);
    logger.info('tries', maxAttempts);
  });

  typed.createFunction(
    {
      id: 'failing',
      triggers: { event: 'order/paid' },
      cancelOn: [{ event: 'order/shipped', if: 'event.data.orderId == async.data.orderId' }],
      onFailure: ({ error, event, step }) => {
        same<typeof error, Error>(true);
        same<typeof event.data.event.data, OrderPaid>(true);
        step.sleep('a', '1s');
      },
    },
    () => {},
  );
  typed.createFunction(
    // @ts-expect-error: no such event
    { id: 'a', triggers: { event: 'order/paid' }, cancelOn: [{ event: 'order/lost' }] },
    () => {},
  );
}

export function flowControl() {
  const on = { id: 'a', triggers: { event: 'order/paid' } } as const;
  const key = 'event.data.orderId';
  const limit = { limit: 1, key } as const;
  const [env, account] = [{ ...limit, scope: 'env' } as const, { ...limit, scope: 'account' } as const];
  const batchEvents = { maxSize: 2, timeout: '1s', key, if: 'event.data.total < 10' };
  const create = typed.createFunction.bind(typed);

  create({ ...on, concurrency: 1 }, () => {});
  create({ ...on, concurrency: env }, () => {});
  create({ ...on, concurrency: [{ limit: 9 }] }, () => {});
  create({ ...on, concurrency: [env, account] }, () => {});
  create({ ...on, concurrency: { fn: limit, step: [{ limit: 9 }, account] } }, () => {});
  // @ts-expect-error: at most two
  create({ ...on, concurrency: [limit, env, account] }, () => {});
  // @ts-expect-error: at most two of runs
  create({ ...on, concurrency: { fn: [limit, env, account] } }, () => {});
  // @ts-expect-error: neither runs nor steps
  create({ ...on, concurrency: {} }, () => {});
  // @ts-expect-error: functions share this scope by a key
  create({ ...on, concurrency: { limit: 1, scope: 'env' } }, () => {});
  // @ts-expect-error: this scope too
  create({ ...on, concurrency: [limit, { limit: 1, scope: 'account' }] }, () => {});
  // @ts-expect-error: no such scope
  create({ ...on, concurrency: { ...limit, scope: 'team' } }, () => {});
  // @ts-expect-error: a limit is missing
  create({ ...on, concurrency: { key } }, () => {});

  create({ ...on, batchEvents, concurrency: 1, throttle: { limit: 1, period: '1m', burst: 2, key } }, ({ events }) => {
    same<typeof events, { name: 'order/paid'; data: OrderPaid; id: string; ts: number; user?: object; v?: string }[]>(
      true,
    );
  });
  create({ ...on, batchEvents, timeouts: { start: '1h', finish: '1d' } }, () => {});
  // @ts-expect-error: not with batches
  create({ ...on, batchEvents, rateLimit: { limit: 1, period: '1m' } }, () => {});
  // @ts-expect-error: not with batches
  create({ ...on, batchEvents, idempotency: key }, () => {});
  // @ts-expect-error: not with batches
  create({ ...on, batchEvents, debounce: { period: '1m' } }, () => {});
  // @ts-expect-error: not with batches
  create({ ...on, batchEvents, singleton: { mode: 'skip' } }, () => {});
  // @ts-expect-error: not with batches
  create({ ...on, batchEvents, priority: { run: '60' } }, () => {});
  // @ts-expect-error: not with batches
  create({ ...on, batchEvents, cancelOn: [{ event: 'order/shipped' }] }, () => {});
  // @ts-expect-error: its timeout is missing
  create({ ...on, batchEvents: { maxSize: 2 } }, () => {});

  const single = { rateLimit: { limit: 1, period: '1m', key }, debounce: { period: '1s', timeout: '1m', key } };
  create({ ...on, ...single, singleton: { mode: 'skip', key }, priority: { run: '60' }, idempotency: key }, () => {});
  // @ts-expect-error: it is skip or cancel
  create({ ...on, singleton: { mode: 'queue' } }, () => {});
  // @ts-expect-error: the mode is missing
  create({ ...on, singleton: { key } }, () => {});
  // @ts-expect-error: the expression is missing
  create({ ...on, priority: {} }, () => {});
  // @ts-expect-error: the period is missing
  create({ ...on, throttle: { limit: 1 } }, () => {});
  // @ts-expect-error: a time string
  create({ ...on, debounce: { period: 60 } }, () => {});

  create({ id: 'a', triggers: { cron: 'TZ=Europe/Berlin 0 9 * * 1', jitter: '30s', catchUp: 'all' } }, () => {});
}

export function schemas() {
  const client = new Tidegate({
    id: 'shop',
    schemas: {
      'order/paid': z.object({
        total: z.number(),
        currency: z.string().default('EUR'),
        at: z.coerce.date().optional(),
      }),
      'stock/changed': z.object({ sku: z.string() }),
    },
  });
  client.send({ name: 'order/paid', data: { total: 3 } });
  client.send([
    { name: 'order/paid', data: { total: 3, currency: 'USD' } },
    { name: 'stock/changed', data: { sku: 'tea' } },
  ]);
  // @ts-expect-error: total is a number
  client.send({ name: 'order/paid', data: { total: '3' } });
  // @ts-expect-error: no such event
  client.send({ name: 'order/payed', data: { total: 3 } });
  const fn = client.createFunction({ id: 'a', triggers: { event: 'order/paid' } }, ({ event, step }) => {
    same<typeof event.data.currency, string>(true);
    same<typeof event.data.total, number>(true);
    same<typeof event.data.at, string | undefined>(true);
    step.sendEvent('b', { name: 'order/paid', data: { total: 3 } });
    return 7;
  });
  testFunction(fn, { events: [{ data: { total: 3, currency: 'EUR' } }, { data: { total: 4, currency: 'USD' } }] });
  // @ts-expect-error: total is a number in each of the events
  testFunction(fn, { events: [{ data: { total: '3', currency: 'EUR' } }] });
  testFunction(fn, { event: { data: { total: 3, currency: 'EUR' } } }).then(({ result, error }) => {
    same<typeof result, number | undefined>(true);
    same<typeof error, unknown>(true);
  });
  // @ts-expect-error: no such event
  client.createFunction({ id: 'a', triggers: { event: 'order/payed' } }, () => {});
  serve({ client, functions: [fn] });
}

export function declaring() {
  // @ts-expect-error: an event requires data
  new Tidegate<{ 'order/paid': { total: number } }>({ id: 'shop' });
  // @ts-expect-error: data is an object
  new Tidegate<{ 'order/paid': { data: string } }>({ id: 'shop' });
  // @ts-expect-error: the app requires an ID
  new Tidegate({ eventKey: 'k' });
  new Tidegate({ id: 'shop', eventKey: process.env.KEY, env: undefined });
}

export function serving() {
  const fn = typed.createFunction({ id: 'one', triggers: { event: 'order/paid' } }, () => {});
  const options = { client: typed, functions: [fn], path: '/api/service' };
  new Koa().use(serveKoa(options));
  express().use(serveExpress(options));
  express().all('/api/service', serveExpress(options));
  Fastify().register(serveFastify(options));
  new Hono().use('/api/*', serveHono(options)).all('/api/service', serveHono(options));
  serve({ client: typed, functions: [fn], serveOrigin: process.env.ORIGIN });
  serveKoa({ client: loose, functions: [fn], path: '/api/service' });
  // @ts-expect-error: functions are missing
  serve({ client: typed });
}
