/** `scripts/chaos --only outbox,transaction`: apps in three languages, each with a database of its own, die at each point, and processes of the service, its
 *  Redis and the apps' Postgres are killed meanwhile. At the end there is one event, one run and one booking for each order, and for nothing else. */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SCHEMA } from 'tidegate/postgres';
import { crash } from '../faults/process-faults.ts';
import type { Options } from '../options.ts';
import { PostgresServer } from '../postgres.ts';
import { Random } from '../random.ts';
import { type RedisServer, redisIn } from '../redis.ts';
import type { Count, Results } from '../results.ts';
import { Service } from '../service.ts';
import type { ServiceProcess } from '../service-process.ts';
import type { Timeline } from '../timeline.ts';
import { App, programOf } from './database-app.ts';
import { pointsOf } from './points.ts';

const FEATURES = ['outbox', 'transaction'];
/** Of all points, by chance. */
const SHORT_POINTS = 4;
const DIES_WITHIN_MS = 8_000;
const SETTLES_WITHIN_MS = 180_000;
const TABLES = `${SCHEMA}; create table orders (id text primary key);
  create table bookings (number bigint generated always as identity primary key, order_id text not null, run_id text not null)`;

interface Found {
  orders: number;
  /** Acknowledged by the service, of orders. */
  events: number;
  runs: number;
  bookings: number;
  /** Orders without a booking, or whose run has not completed. */
  lost: string[];
  /** Orders with more than one event, run or booking. */
  twice: string[];
  /** Events and bookings of orders that were rolled back. */
  invented: string[];
}

export function isExactlyOnce({ only }: Options): boolean {
  return only !== undefined && only.length > 0 && only.every((name) => FEATURES.includes(name));
}

export async function exactlyOnce(options: Options, timeline: Timeline): Promise<Results> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-chaos-'));
  const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const redis = await redisIn(dir);
    closing.push(async () => {
      await redis.end('SIGKILL');
      redis.admin.disconnect();
    });
    const postgres = await PostgresServer.start();
    closing.push(() => postgres.close());
    const service = new Service({ MODE: 'production', REDIS_URL: redis.url }, options.logs);
    closing.push(() => service.stop());
    await service.start();
    const apps: App[] = [];
    for (const language of options.languages) {
      const app = new App(language, await programOf(language), { service, postgres });
      closing.push(() => app.stop());
      await withClient(postgres.url, (client) => client.query(`create database ${language}`));
      await withClient(app.database, (client) => client.query(TABLES));
      await app.start({});
      await app.register();
      apps.push(app);
    }
    const kills = await killAll(apps, { service, postgres, redis, options, timeline });
    for (const app of apps) await app.start({});
    const mendedAt = performance.now();
    const found = new Map<string, Found>();
    for (const app of apps) found.set(app.language, await settled(service, app));
    const recoverySeconds = (performance.now() - mendedAt) / 1_000;
    const version = /redis_version:(\S+)/.exec(await redis.admin.info('server'))?.[1] ?? '';
    return {
      seed: options.seed,
      command: commandOf(options),
      at: new Date().toISOString(),
      machine: { cpu: cpus()[0]?.model ?? '', cores: cpus().length, node: process.version, redis: version },
      minutes: timeline.nowMs / 60_000,
      languages: options.languages,
      faults: kills,
      left_out: [],
      load: loadOf(found, kills),
      counts: [...countsOf(found, options), ...countsOfService(service, recoverySeconds)],
    };
  } finally {
    for (let end = closing.pop(); end; end = closing.pop()) await end();
  }
}

/** Repeats the run. */
function commandOf({ seed, short, kills, only = [], languages }: Options): string {
  const length = `${short ? ' --short' : ''}${kills > 0 ? ` --kills ${kills}` : ''}`;
  return `scripts/chaos --seed ${seed}${length} --only ${only.join()} --languages ${languages.join()}`;
}

function loadOf(found: ReadonlyMap<string, Found>, kills: Record<string, number>): Results['load'] {
  const load: Record<string, number> = {};
  for (const what of ['orders', 'events', 'runs', 'bookings'] as const) {
    load[what] = sum([...found.values()].map((one) => one[what]));
  }
  for (const [language, { orders }] of found) load[`orders in ${language}`] = orders;
  return { ...load, 'processes killed': sum(Object.values(kills)) };
}

const none = (name: string, findings: string[]): Count => ({ name, most: 0, figure: findings.length, findings });

function countsOfService({ ends }: Service, recoverySeconds: number): Count[] {
  return [
    none('unexpected exits of the service', ends.unexpected),
    { name: 'recovery after the last fault', most: SETTLES_WITHIN_MS / 1_000, figure: recoverySeconds, unit: 's' },
  ];
}

function countsOf(found: ReadonlyMap<string, Found>, { short }: Options): Count[] {
  const all = (what: 'lost' | 'twice' | 'invented') => [...found.values()].flatMap((one) => one[what]);
  const idle = [...found].flatMap(([language, { orders }]) => (orders === 0 ? [language] : []));
  return [
    none('orders without their event, completed run and booking', all('lost')),
    none('orders with several events, runs or bookings', all('twice')),
    none('events and bookings of orders that were rolled back', all('invented')),
    // A few deaths may hit apps before their first commit.
    none('apps without an order', short && idle.length < found.size ? [] : idle),
  ];
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

interface Injection {
  service: Service;
  postgres: PostgresServer;
  redis: RedisServer;
  options: Options;
  timeline: Timeline;
}

const DOWN_MS = 1_500;
/** How many deaths of an app are accompanied by one of these. */
const ALSO = 0.5;
const OTHERS: Record<string, (injection: Injection, random: Random) => Promise<unknown>> = {
  'the Postgres of the apps': ({ postgres }, random) => restarted(postgres, random),
  Redis: ({ redis }, random) => restarted({ kill: () => redis.end('SIGKILL'), start: () => redis.start() }, random),
  'a web process': ({ service }, random) => crashed(random.pick(service.webs)),
  'a worker': ({ service }, random) => crashed(random.pick(service.workers)),
};

async function crashed(target: ServiceProcess): Promise<void> {
  // It may not be back yet from the last time.
  await target.start();
  await crash(target);
}

async function restarted(server: { kill(): Promise<void>; start(): Promise<void> }, random: Random): Promise<void> {
  await server.kill();
  await setTimeout(random.between(0, DOWN_MS));
  await server.start();
}

/** Each app at each point once, then any until there are enough kills; at half of them also a process of the service, its Redis or the Postgres. */
async function killAll(apps: readonly App[], injection: Injection): Promise<Record<string, number>> {
  const { options, timeline } = injection;
  const random = new Random(options.seed);
  const kills: Record<string, number> = {};
  const count = (what: string) => {
    kills[what] = (kills[what] ?? 0) + 1;
    timeline.note(what);
  };
  const deaths = apps.flatMap((app) => pointsOf(options.only ?? FEATURES).map((point) => ({ app, point })));
  const todo = random.shuffled(deaths).slice(0, options.short ? SHORT_POINTS : undefined);
  while (todo.length > 0 || sum(Object.values(kills)) < options.kills) {
    const { app, point } = todo.pop() ?? random.pick(deaths);
    await app.start({ ORDERS: '1', DIES_AT: point, DIES_AFTER: String(Math.floor(random.between(0, 4))) });
    if (random.next() < ALSO) {
      const also = random.pick(Object.keys(OTHERS));
      await setTimeout(random.between(0, DOWN_MS));
      await OTHERS[also]?.(injection, random);
      count(also);
    }
    // What it waits for may be dead as well: it is killed wherever it is.
    count(`the app in ${app.language}, ${(await app.died(DIES_WITHIN_MS)) ? point : 'anywhere'}`);
    await app.start({});
  }
  return kills;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

interface Booking {
  order_id: string;
  run_id: string;
}

/** Waits until the outbox is empty and each order has a booking of a completed run, or too long. */
async function settled(service: Service, { database, event, functionId }: App): Promise<Found> {
  const deadline = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const [orders, bookings, waiting] = await withClient(
      database,
      async (client) =>
        [
          (await client.query<{ id: string }>('select id from orders')).rows.map(({ id }) => id),
          (await client.query<Booking>('select order_id, run_id from bookings')).rows,
          (await client.query('select 1 from tidegate_outbox')).rows.length,
        ] as const,
    );
    const events = await service.list<{ id: string }>(`/v1/events?name=${event}&limit=100`);
    const runs = await service.list<{ run_id: string; status: string }>(`/v1/runs?function_id=${functionId}&limit=100`);
    const completed = runs.filter(({ status }) => status === 'Completed').map(({ run_id }) => run_id);
    const booked = bookings.map(({ order_id }) => order_id);
    const sent = events.map(({ id }) => id);
    const runOf = new Map(bookings.map(({ order_id, run_id }) => [order_id, run_id]));
    const done = new Set(completed);
    const lost = orders.filter((id) => !done.has(runOf.get(id) ?? '') || !sent.includes(id));
    if ((lost.length > 0 || waiting > 0 || done.size < runs.length) && performance.now() < deadline) {
      await setTimeout(1_000);
      continue;
    }
    const known = new Set(orders);
    const invented = [...booked, ...sent].filter((id) => !known.has(id));
    const twice = [...repeated(booked), ...repeated(sent), ...(runs.length > orders.length ? ['a run'] : [])];
    const counts = { orders: orders.length, events: events.length, runs: runs.length, bookings: bookings.length };
    return { ...counts, lost, twice, invented };
  }
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.has(id) || !seen.add(id));
}
