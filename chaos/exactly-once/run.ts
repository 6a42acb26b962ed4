/** `scripts/chaos --only outbox,transaction`: an app with a Postgres of its own dies at each point, and processes of the service and the app's Postgres are
 *  killed meanwhile. At the end there is one event, one run and one booking for each order, and for nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SCHEMA } from 'tidegate/postgres';
import { freePort } from '../../scripts/lib/ports.ts';
import { Problem } from '../../scripts/lib/problem.ts';
import { type HostProgram, startHost } from '../../test/support/program.ts';
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

export interface ExactlyOnce {
  kills: Record<string, number>;
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
  const { kills, orders, events, runs, bookings, lost, twice, invented } = results;
  const killed = Object.values(kills).reduce((sum, count) => sum + count, 0);
  console.log(
    `${killed} kills: ${orders} orders, ${events} events, ${runs} runs, ${bookings} bookings; ${lost.length} lost, ${twice.length} twice, ${invented.length} invented`,
  );
  if (!options.quiet) for (const [what, count] of Object.entries(kills)) console.log(`  ${count} × ${what}`);
  const wrong = [...lost, ...twice, ...invented];
  if (wrong.length > 0 || orders === 0)
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
    await withClient(postgres, (client) => client.query(TABLES));
    const service = new Service({ MODE: 'production', ...target.settings }, options.logs);
    closing.push(() => service.stop());
    await service.start();
    const app = new App(service, postgres);
    closing.push(() => app.stop());
    await app.start({});
    await app.register();
    const kills = await killAll(app, { service, postgres, options });
    await app.start({});
    return { kills, ...(await settled(service, postgres)) };
  } finally {
    for (let end = closing.pop(); end; end = closing.pop()) await end();
  }
}

class App {
  readonly #service: Service;
  readonly #postgres: PostgresServer;
  #port = '';
  #host: HostProgram | undefined;

  constructor(service: Service, postgres: PostgresServer) {
    this.#service = service;
    this.#postgres = postgres;
  }

  async start(env: Record<string, string>): Promise<void> {
    await this.stop();
    this.#port ||= String(await freePort());
    this.#host = await startHost(process.execPath, [join(import.meta.dirname, 'app.ts')], {
      cwd: ROOT,
      env: {
        PORT: this.#port,
        APP_DATABASE_URL: this.#postgres.url,
        SERVICE_BASE_URL: this.#service.balancedUrl,
        SERVICE_SERVE_ORIGIN: `http://127.0.0.1:${this.#port}`,
        SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
        SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
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

/** Each point once, then any until there are enough kills; each third time also a process of the service, or the Postgres. */
async function killAll(app: App, { service, postgres, options }: Injection): Promise<Record<string, number>> {
  const random = new Random(options.seed);
  const kills: Record<string, number> = {};
  const count = (what: string) => {
    kills[what] = (kills[what] ?? 0) + 1;
    if (!options.quiet) console.log(what);
  };
  const total = () => Object.values(kills).reduce((sum, n) => sum + n, 0);
  const points = pointsOf(options.only ?? FEATURES);
  const todo = random.shuffled(points).slice(0, options.short ? SHORT_POINTS : undefined);
  while (todo.length > 0 || total() < options.kills) {
    const point = todo.pop() ?? random.pick(points);
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
    count((await app.died(DIES_WITHIN_MS)) ? point : 'the app, anywhere');
  }
  return kills;
}

async function withClient<T>(postgres: PostgresServer, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: postgres.url });
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
async function settled(service: Service, postgres: PostgresServer): Promise<Omit<ExactlyOnce, 'kills'>> {
  const deadline = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const [orders, bookings, waiting] = await withClient(
      postgres,
      async (client) =>
        [
          (await client.query<{ id: string }>('select id from orders')).rows.map(({ id }) => id),
          (await client.query<Booking>('select order_id, run_id from bookings')).rows,
          (await client.query('select 1 from tidegate_outbox')).rows.length,
        ] as const,
    );
    const events = await service.list<{ id: string }>('/v1/events?name=chaos/order&limit=100');
    const runs = await service.list<{ run_id: string; status: string }>('/v1/runs?limit=100');
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
