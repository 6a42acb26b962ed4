/** What it costs to send and to write exactly once with an app's own Postgres, which syncs each commit: transactions with `outbox`, the lag from the commit to
 *  the function, and steps that are transactions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { Tidegate } from 'tidegate';
import { outbox } from 'tidegate/postgres';
import { runTransaction } from '../../clients/typescript/src/postgres/step-transaction.ts';
import type { Measurement } from '../bench.ts';
import { sinceBoot } from '../count-calls.ts';
import type { AppAnswer, AppOrder, Claimed } from '../outbox-app.ts';
import {
  AppTables,
  EVENTS,
  INSERT_BOOKING,
  INSERT_INDEXED,
  INSERT_ORDER,
  INSERT_PLAIN,
  STEPS,
} from '../outbox-tables.ts';
import { eventOf } from '../payloads.ts';
import { type BenchProcess, ROOT } from '../processes.ts';
import type { Measured } from '../results.ts';
import type { Row } from '../row.ts';
import { SECRETS } from '../service.ts';
import { median, medians, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const group = 'exactly-once';
const PREFIX = 'exactly once:';
const WRITE = `${PREFIX} a transaction with an order and its event`;
const LAG = `${PREFIX} from the commit to the function, 50 commits/s`;
const DEATH = `${PREFIX} from the death of the app, whose relay had claimed the event, to the function`;
const STEP = `${PREFIX} a step with an insert`;
const PLAIN = 'a plain insert of the event, no index but the key';
const INDEXED = "a plain insert, with the outbox's indexes";
const shop = new Tidegate({ id: 'bench' });
const CONNECTIONS = [1, 8] as const;
const MAX_TIMES = 1.3;
const COMMIT_EVERY_MS = 20;
const RUNS_PER_SECOND = 4;
const DEATHS_PER_ROUND = 4;
/** A relay that waits looks each second: the app dies at any time of it. */
const POLL_MS = 1_000;

type RowsOf = (testBed: TestBed, tables: AppTables) => Promise<Row[]>;

function measurement(name: string, rowsOf: RowsOf): Measurement {
  return {
    group,
    names: [name],
    measure: (bench) =>
      bench.withTestBed({ archive: true }, async (testBed) =>
        bench.using(AppTables.create(testBed), async (tables) => {
          await testBed.startWorker();
          return { rows: await rowsOf(testBed, tables), costs: [], series: [] } satisfies Measured;
        }),
      ),
  };
}

export const exactlyOnce: readonly Measurement[] = [
  measurement(WRITE, writes),
  measurement(LAG, lags),
  measurement(DEATH, deaths),
  measurement(STEP, steps),
];

type Transaction = (client: pg.PoolClient, event: OrderEvent) => Promise<unknown>;
interface OrderEvent {
  name: string;
  id: string;
  data: object;
}

/** Microseconds of a transaction, with something that listens as a relay does, and nothing that sends. */
async function writes({ bench }: TestBed, tables: AppTables): Promise<Row[]> {
  const { rounds, seconds } = bench.options;
  const kinds: Record<'own' | 'plain' | 'indexed', Transaction> = {
    own: (client, event) => outbox(client, shop, event),
    plain: (client, event) => client.query(INSERT_PLAIN, [JSON.stringify(event)]),
    indexed: (client, event) => client.query(INSERT_INDEXED, [JSON.stringify(event)]),
  };
  const listener = await tables.pool.connect();
  await listener.query('listen tidegate_outbox');
  const rows: Row[] = [];
  for (const connections of CONNECTIONS) {
    const timed = (kind: keyof typeof kinds) => () => microseconds(tables, connections, seconds, kinds[kind]);
    const reached =
      connections === 1
        ? await inTurns(tables, rounds * seconds, kinds)
        : await medians(rounds, { own: timed('own'), plain: timed('plain'), indexed: timed('indexed') });
    const references = [
      { what: PLAIN, value: reached.plain },
      { what: INDEXED, value: reached.indexed },
    ];
    const work = `${WRITE}, ${connections === 1 ? 'one connection' : `${connections} connections`}`;
    const targets = connections === 1 ? [{ times: MAX_TIMES, of: PLAIN }] : [];
    rows.push({ group, work, value: reached.own, unit: 'µs', references, targets });
  }
  listener.release(true);
  return rows;
}

/** One of each after the other on the same connection, until the time is over for each. @returns medians */
async function inTurns<Kind extends string>(
  tables: AppTables,
  seconds: number,
  kinds: Record<Kind, Transaction>,
): Promise<Record<Kind, number>> {
  await tables.empty();
  const names = Object.keys(kinds) as Kind[];
  const all = new Map<Kind, number[]>(names.map((name) => [name, []]));
  const client = await tables.pool.connect();
  const endAt = sinceBoot() + names.length * seconds * 1_000;
  while (sinceBoot() < endAt) {
    for (const name of names) {
      const startedAt = sinceBoot();
      await transact(client, kinds[name]);
      all.get(name)?.push(1_000 * (sinceBoot() - startedAt));
    }
  }
  client.release();
  return Object.fromEntries(names.map((name) => [name, median(all.get(name) as number[])])) as Record<Kind, number>;
}

async function transact(client: pg.PoolClient, write: Transaction): Promise<void> {
  const id = randomUUID();
  await client.query('begin');
  await client.query(INSERT_ORDER, [id]);
  await write(client, { ...eventOf(EVENTS.paid), id } as OrderEvent);
  await client.query('commit');
}

/** Until the time is over, on so many connections at once. */
async function microseconds(
  tables: AppTables,
  connections: number,
  seconds: number,
  write: Transaction,
): Promise<number> {
  await tables.empty();
  const startedAt = sinceBoot();
  let count = 0;
  const work = async () => {
    const client = await tables.pool.connect();
    for (; sinceBoot() - startedAt < seconds * 1_000; count++) await transact(client, write);
    client.release();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return (1_000 * (sinceBoot() - startedAt)) / count;
}

/** @param port for one that registers: a registered app keeps its address */
async function startApp(
  testBed: TestBed,
  { url }: AppTables,
  roles: readonly ('relay' | 'hangs')[],
  port = 0,
): Promise<BenchProcess> {
  return testBed.startProcess('bench/outbox-app.ts', {
    APP_DATABASE_URL: url,
    PORT: String(port),
    ROLES: roles.join(),
    SERVICE_BASE_URL: testBed.service.url,
    SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
    SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
  });
}

async function startRegistered(
  testBed: TestBed,
  tables: AppTables,
  roles: readonly ('relay' | 'hangs')[] = [],
): Promise<BenchProcess> {
  const app = await startApp(testBed, tables, roles, tables.appPort);
  const response = await fetch(`${app.url}/api/service`, { method: 'PUT' });
  if (!response.ok) throw new Error(`The app could not register: ${await response.text()}`);
  return app;
}

const tell = (app: BenchProcess, order: AppOrder) => app.ask<AppAnswer>(order);

async function lags(testBed: TestBed, tables: AppTables): Promise<Row[]> {
  const { rounds, seconds } = testBed.bench.options;
  const app = await startRegistered(testBed, tables, ['relay']);
  const commit = async (orders: number, sends: boolean) =>
    (await tell(app, { does: 'commit', orders, everyMs: COMMIT_EVERY_MS, sends })).lagsMs as number[];
  const all: Record<'own' | 'sent', number[][]> = { own: [], sent: [] };
  // The first is the warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const kind of ['own', 'sent'] as const) {
      const lagsMs = await commit((seconds * 1_000) / COMMIT_EVERY_MS, kind === 'sent');
      if (round > 0) all[kind].push(lagsMs);
    }
  }
  await testBed.stopProcess(app);
  const at = (q: number, kind: keyof typeof all) => median(all[kind].map((ms) => quantile(ms, q)));
  const row = (q: number, name: string): Omit<Row, 'targets'> => ({
    group,
    work: `${LAG}, ${name}`,
    value: at(q, 'own'),
    unit: 'ms',
    references: [{ what: '`client.send` after the commit', value: at(q, 'sent') }],
  });
  return [
    { ...row(0.5, 'p50'), targets: [] },
    { ...row(0.99, 'p99'), targets: [{ most: 50 }] },
  ];
}

/** An app dies with a row that it has claimed, and a `tidegate outbox relay`, or another instance of the app, is there. */
async function deaths(testBed: TestBed, tables: AppTables): Promise<Row[]> {
  const host = await startRegistered(testBed, tables);
  const measured: Record<'process' | 'instance', number[]> = { process: [], instance: [] };
  for (let n = 0; n < testBed.bench.options.rounds * DEATHS_PER_ROUND; n++) {
    for (const heir of ['process', 'instance'] as const) {
      const app = await startApp(testBed, tables, ['relay', 'hangs']);
      const { order } = await app.ask<Claimed>({ does: 'commit', orders: 1, everyMs: 0 } satisfies AppOrder);
      const end = await startHeir(heir, testBed, tables);
      await setTimeout(POLL_MS * (1 + Math.random()));
      const diedAt = sinceBoot();
      await testBed.stopProcess(app, 'SIGKILL');
      const { startedAt = Number.NaN } = await tell(host, { does: 'started', order });
      measured[heir].push(startedAt - diedAt);
      await tables.untilSent();
      await end();
    }
  }
  await testBed.stopProcess(host);
  testBed.bench.progress(`after deaths: ${JSON.stringify(measured)}`);
  const names = { process: '`tidegate outbox relay`', instance: 'another instance' };
  return (['process', 'instance'] as const).map((heir) => ({
    group,
    work: `${DEATH}, which ${names[heir]} sends, longest of ${measured[heir].length}`,
    value: Math.max(...measured[heir]),
    unit: 'ms',
    references: [],
    targets: [{ most: 2_000 }],
  }));
}

/** @returns what ends it */
async function startHeir(
  heir: 'process' | 'instance',
  testBed: TestBed,
  tables: AppTables,
): Promise<() => Promise<void>> {
  if (heir === 'instance') {
    const app = await startApp(testBed, tables, ['relay']);
    return () => testBed.stopProcess(app);
  }
  const child = await startRelay(testBed, tables);
  return async () => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
}

/** Resolves when it relays. */
async function startRelay(testBed: TestBed, tables: AppTables): Promise<ChildProcess> {
  const { PATH } = process.env;
  const env = {
    PATH,
    DATABASE_URL: tables.url,
    TIDEGATE_URL: testBed.service.url,
    TIDEGATE_EVENT_KEY: SECRETS.EVENT_KEYS,
    TIDEGATE_API_KEY: SECRETS.API_KEY,
  };
  const child = spawn(process.execPath, [join(ROOT, 'cli/src/main.ts'), 'outbox', 'relay'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  testBed.bench.signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  await Promise.race([
    once(child.stderr, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('tidegate outbox relay has ended'))),
  ]);
  return child;
}

/** A step of a run, from its start to the start of the next; and its part on the database alone. */
async function steps(testBed: TestBed, tables: AppTables): Promise<Row[]> {
  const { rounds, seconds } = testBed.bench.options;
  const app = await startRegistered(testBed, tables);
  const ofRuns = (of: 'transaction' | 'run') => async () => {
    const { stepsMs = [] } = await tell(app, { does: 'steps', of, runs: RUNS_PER_SECOND * seconds });
    return 1_000 * median(stepsMs);
  };
  await ofRuns('transaction')();
  await ofRuns('run')();
  const whole = await medians(rounds, { own: ofRuns('transaction'), plain: ofRuns('run') });
  await testBed.stopProcess(app);
  const { pool } = tables;
  const values = [randomUUID(), randomUUID()];
  const alone = await medians(rounds, {
    own: () =>
      repeatedly(seconds, () => {
        const step = { runId: randomUUID(), hashedId: randomUUID(), name: 'book' };
        return runTransaction(
          step,
          pool,
          async (tx: pg.PoolClient) => (await tx.query(INSERT_BOOKING, values)).rows[0],
        );
      }),
    plain: () => repeatedly(seconds, () => pool.query(INSERT_BOOKING, values)),
  });
  const row = { group, unit: 'µs' } as const;
  const [run, insert] = ['`step.run` with the same insert', 'the insert by itself'];
  return [
    {
      ...row,
      work: `${STEP}: \`step.transaction\`, one of ${STEPS} in a run`,
      value: whole.own,
      references: [{ what: run, value: whole.plain }],
      targets: [{ times: MAX_TIMES, of: run }],
    },
    {
      ...row,
      work: `${STEP}: \`step.transaction\`, its part in the app`,
      value: alone.own,
      references: [{ what: insert, value: alone.plain }],
      targets: [],
    },
  ];
}

/** @returns microseconds of each */
async function repeatedly(seconds: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = sinceBoot();
  let count = 0;
  for (; sinceBoot() - startedAt < seconds * 1_000; count++) await work();
  return (1_000 * (sinceBoot() - startedAt)) / count;
}
