/** What it costs to send and to write exactly once with an app's own Postgres, which syncs each commit: transactions with `outbox`, the lag from the commit to
 *  the function, and steps that are transactions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { runTransaction } from '../../clients/typescript/src/postgres/step-transaction.ts';
import type { Measurement } from '../bench.ts';
import { sinceBoot } from '../count-calls.ts';
import type { AppAnswer, AppOrder, Claimed } from '../outbox-app.ts';
import { AppTables, INSERT_BOOKING, STEPS } from '../outbox-tables.ts';
import { type BenchProcess, ROOT } from '../processes.ts';
import type { Measured } from '../results.ts';
import type { Row } from '../row.ts';
import { SECRETS } from '../service.ts';
import { median, medians, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { GROUP, MAX_TIMES, PREFIX, WRITE, writes } from './exactly-once-writes.ts';

const LAG = `${PREFIX} from the commit to the function, 50 commits/s`;
const DEATH = `${PREFIX} from the death of the app, whose relay had claimed the event, to the function`;
const STEP = `${PREFIX} a step with an insert`;
const COMMIT_EVERY_MS = 20;
const RUNS_PER_SECOND = 4;
const DEATHS_PER_ROUND = 4;
/** A relay that waits looks each second: the app dies at any time of it. */
const POLL_MS = 1_000;

type RowsOf = (testBed: TestBed, tables: AppTables) => Promise<Row[]>;

function measurement(name: string, rowsOf: RowsOf): Measurement {
  return {
    group: GROUP,
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
    group: GROUP,
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
    group: GROUP,
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
  const row = { group: GROUP, unit: 'µs' } as const;
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
