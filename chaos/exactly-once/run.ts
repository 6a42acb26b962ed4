/** `scripts/chaos --only outbox,transaction`: apps in three languages, each with a database of its own, die at each point, and processes of the service and
 *  the apps' Postgres are killed meanwhile. At the end there is one event, one run and one booking for each order, and for nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SCHEMA } from 'tidegate/postgres';
import { freePort } from '../../scripts/lib/ports.ts';
import { Problem } from '../../scripts/lib/problem.ts';
import { buildGo } from '../../test/support/go.ts';
import { type HostProgram, startHost } from '../../test/support/program.ts';
import { installPython } from '../../test/support/python.ts';
import { crash } from '../faults/process-faults.ts';
import type { Options } from '../options.ts';
import { PostgresServer } from '../postgres.ts';
import { Random } from '../random.ts';
import { SECRETS, Service } from '../service.ts';
import { singleRedis } from '../targets/single.ts';
import { pointsOf } from './points.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FEATURES = ['outbox', 'transaction'];
/** Of all points, by chance. */
const SHORT_POINTS = 4;
const REGISTERED_WITHIN_MS = 60_000;
const DIES_WITHIN_MS = 8_000;
const SETTLES_WITHIN_MS = 180_000;
const TABLES = `${SCHEMA}; create table orders (id text primary key);
  create table bookings (number bigint generated always as identity primary key, order_id text not null, run_id text not null)`;

export interface ExactlyOnce extends Found {
  kills: Record<string, number>;
  /** Of the app in each language. */
  languages: Record<string, Found>;
}

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

/** @throws Problem if something was lost, or was there twice */
export async function exactlyOnce(options: Options): Promise<void> {
  const results = await inject(options);
  if (options.out) writeFileSync(options.out, `${JSON.stringify(results, undefined, 2)}\n`);
  const { kills, languages, orders, events, runs, bookings, lost, twice, invented } = results;
  const killed = Object.values(kills).reduce((sum, count) => sum + count, 0);
  console.log(
    `${killed} kills: ${orders} orders, ${events} events, ${runs} runs, ${bookings} bookings; ${lost.length} lost, ${twice.length} twice, ${invented.length} invented`,
  );
  for (const [language, found] of Object.entries(languages))
    console.log(
      `  ${language}: ${found.orders} orders, ${found.events} events, ${found.runs} runs, ${found.bookings} bookings`,
    );
  if (!options.quiet) for (const [what, count] of Object.entries(kills)) console.log(`  ${count} × ${what}`);
  const wrong = [...lost, ...twice, ...invented];
  const hasIdle = Object.values(languages).some((found) => found.orders === 0 && !options.short);
  if (wrong.length > 0 || orders === 0 || hasIdle)
    throw new Problem(`Not exactly once (--seed ${options.seed}): ${wrong.slice(0, 10).join(', ') || 'no orders'}`);
}

async function inject(options: Options): Promise<ExactlyOnce> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-chaos-'));
  const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const target = await singleRedis(dir, { ...options, short: true });
    closing.push(() => target.close());
    const postgres = await PostgresServer.start();
    closing.push(() => postgres.close());
    const service = new Service({ MODE: 'production', ...target.settings }, options.logs);
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
    const kills = await killAll(apps, { service, postgres, options });
    for (const app of apps) await app.start({});
    const languages: Record<string, Found> = {};
    for (const app of apps) languages[app.language] = await settled(service, app);
    return { kills, ...totalOf(Object.values(languages)), languages };
  } finally {
    for (let end = closing.pop(); end; end = closing.pop()) await end();
  }
}

function totalOf(found: readonly Found[]): Found {
  const sum = (count: 'orders' | 'events' | 'runs' | 'bookings') => found.reduce((total, one) => total + one[count], 0);
  const all = (what: 'lost' | 'twice' | 'invented') => found.flatMap((one) => one[what]);
  const counts = { orders: sum('orders'), events: sum('events'), runs: sum('runs'), bookings: sum('bookings') };
  return { ...counts, lost: all('lost'), twice: all('twice'), invented: all('invented') };
}

interface Program {
  file: string;
  args: string[];
  env?: Record<string, string>;
}

/** @throws Problem for an unknown language; Error for one that is not installed */
async function programOf(language: string): Promise<Program> {
  switch (language) {
    case 'typescript':
      return { file: process.execPath, args: [join(import.meta.dirname, 'app.ts')] };
    case 'python': {
      const bin = await installPython('python-client', join(ROOT, 'clients/python/requirements-dev.txt'));
      const env = { PYTHONPATH: join(ROOT, 'clients/python/src') };
      return { file: join(bin, 'python'), args: [join(import.meta.dirname, 'app.py')], env };
    }
    case 'go':
      return { file: await buildGo('chaos-outbox', './outbox', join(ROOT, 'chaos/apps/go')), args: [] };
    default:
      throw new Problem(`--languages: got "${language}"; expected typescript, python or go`);
  }
}

/** With a database, an event and a function of its own. */
class App {
  readonly language: string;
  readonly database: string;
  readonly event: string;
  readonly functionId: string;
  readonly #id: string;
  readonly #program: Program;
  readonly #service: Service;
  #port = '';
  #host: HostProgram | undefined;

  constructor(
    language: string,
    program: Program,
    { service, postgres }: { service: Service; postgres: PostgresServer },
  ) {
    this.language = language;
    this.database = Object.assign(new URL(postgres.url), { pathname: `/${language}` }).href;
    this.event = `chaos/order-${language}`;
    this.#id = `chaos-exactly-once-${language}`;
    this.functionId = `${this.#id}-booked`;
    this.#program = program;
    this.#service = service;
  }

  async start(env: Record<string, string>): Promise<void> {
    await this.stop();
    this.#port ||= String(await freePort());
    this.#host = await startHost(this.#program.file, this.#program.args, {
      cwd: ROOT,
      env: {
        PORT: this.#port,
        APP_ID: this.#id,
        APP_DATABASE_URL: this.database,
        ORDER_EVENT: this.event,
        SERVICE_BASE_URL: this.#service.balancedUrl,
        SERVICE_SERVE_ORIGIN: `http://127.0.0.1:${this.#port}`,
        SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
        SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
        ...this.#program.env,
        ...env,
      },
    });
  }

  async register(): Promise<void> {
    const deadline = performance.now() + REGISTERED_WITHIN_MS;
    for (;;) {
      const response = await fetch(this.#host?.url ?? '', { method: 'PUT' });
      if (response.ok) return;
      if (performance.now() > deadline) throw new Error(`The app could not register: ${await response.text()}`);
      await setTimeout(200);
    }
  }

  /** @returns whether it has died by itself */
  async died(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      if (!isAlive(this.#host?.pid ?? 0)) return true;
      await setTimeout(50);
    }
    return false;
  }

  async stop(): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await host?.kill();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Injection {
  service: Service;
  postgres: PostgresServer;
  options: Options;
}

/** Each app at each point once, then any until there are enough kills; each third time also a process of the service, or the Postgres. */
async function killAll(
  apps: readonly App[],
  { service, postgres, options }: Injection,
): Promise<Record<string, number>> {
  const random = new Random(options.seed);
  const kills: Record<string, number> = {};
  const count = (what: string) => {
    kills[what] = (kills[what] ?? 0) + 1;
    if (!options.quiet) console.log(what);
  };
  const total = () => Object.values(kills).reduce((sum, n) => sum + n, 0);
  const deaths = apps.flatMap((app) => pointsOf(options.only ?? FEATURES).map((point) => ({ app, point })));
  const todo = random.shuffled(deaths).slice(0, options.short ? SHORT_POINTS : undefined);
  while (todo.length > 0 || total() < options.kills) {
    const { app, point } = todo.pop() ?? random.pick(deaths);
    await app.start({ ORDERS: '1', DIES_AT: point, DIES_AFTER: String(Math.floor(random.between(0, 4))) });
    const also = random.next();
    if (also < 0.15) {
      await setTimeout(random.between(0, 1_500));
      await postgres.kill();
      await postgres.start();
      count('the Postgres of the app');
    } else if (also < 0.3) {
      const process = random.pick(service.all);
      await setTimeout(random.between(0, 1_500));
      if (process.running) {
        await crash(process);
        count(process.role);
      }
    }
    // What it waits for may be dead as well.
    count(`${app.language}, ${(await app.died(DIES_WITHIN_MS)) ? point : 'anywhere'}`);
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
