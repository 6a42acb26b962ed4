/** Runs the whole service for development: Redis, web, worker and the example app. Called by scripts/dev. */
import { existsSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { buildDashboard, isDashboardStale } from './lib/dashboard.ts';
import { HELP, readOptions, readPort } from './lib/dev-options.ts';
import { devPostgres } from './lib/dev-postgres.ts';
import { devRedis, type RedisInUse } from './lib/dev-redis.ts';
import { printer } from './lib/log-lines.ts';
import { freePort, LOOPBACK } from './lib/ports.ts';
import { Problem, runMain } from './lib/problem.ts';
import { type Supervised, supervise } from './lib/supervised.ts';
import { watchFolders } from './lib/watch.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** The released package has compiled code, and keeps its data where it is called. */
const EXTENSION = extname(import.meta.filename);
const HOME = EXTENSION === '.js' ? process.cwd() : ROOT;
const SOURCE = join(ROOT, 'src');
const PROCESSES = EXTENSION === '.js' ? join(ROOT, 'dist/service') : SOURCE;
const EXAMPLE = join(ROOT, 'examples/typescript');
const CLIENT = join(ROOT, 'clients/typescript/src');
const DASHBOARD = join(ROOT, 'dashboard');
const END_WITH_PARENT = join(ROOT, `scripts/lib/end-with-parent${EXTENSION}`);

const say = printer('dev', 'blue');

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  console.log('Tidegate in dev mode: requests from this machine need no credentials. Not for production.');
  const port = (await readPort(process.env.PORT)) || (await freePort());
  const redis = await devRedis(HOME, options.cluster, process.env);
  const postgres = await devPostgres(HOME, options.archive, process.env).catch(async (error) => {
    await redis.stop?.();
    throw error;
  });
  if (postgres.env.DATABASE_URL) {
    say(`archive: events and runs move to ${postgres.env.DATABASE_URL} after ${postgres.env.HOT_HOURS} h`);
  }
  await freshDashboard();
  const defaults = {
    // No other process could take the requests meanwhile.
    SHUTDOWN_DRAIN_SECONDS: '0',
    // As in scripts/start: a restart takes half the time.
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/tidegate'),
  };
  const env = { ...defaults, ...process.env, MODE: 'dev', ...redis.env, ...postgres.env, PORT: String(port) };

  const hasExample = options.example && existsSync(EXAMPLE);
  const example = hasExample ? await exampleApp(port) : undefined;
  const worker = supervise({ entry: join(PROCESSES, `worker${EXTENSION}`), env, print: printer('worker', 'magenta') });
  const web = supervise({
    entry: join(PROCESSES, `web${EXTENSION}`),
    env,
    print: printer('web', 'cyan'),
    onReady: once(() => {
      console.log(welcome(port, hasExample));
      example?.start();
    }),
  });
  worker.start();
  web.start();
  restartOnChange([SOURCE], [web, worker]);
  if (example) restartOnChange([CLIENT, EXAMPLE], [example]);
  watchFolders([join(DASHBOARD, 'src'), join(DASHBOARD, 'public')], inTurn(freshDashboard));

  const inOrderOfEnding = [...(example ? [example] : []), web, worker];
  const exitCode = await Promise.race([toldToEnd(inOrderOfEnding), redisLost(redis)]);
  for (const program of inOrderOfEnding) await program.stop();
  await Promise.all([redis.stop?.(), postgres.stop?.()]);
  say('stopped');
  process.exit(exitCode);
});

/** A failed build is no reason to stop: the service runs with the previous build, or without one. */
async function freshDashboard(): Promise<void> {
  if (!isDashboardStale(ROOT)) return;
  say('building the dashboard');
  try {
    await buildDashboard(ROOT);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
}

async function exampleApp(servicePort: number): Promise<Supervised> {
  // The same port in every run if possible: runs that wait in Redis know the app by its address.
  const port = await freePort(servicePort + 1);
  return supervise({
    entry: join(EXAMPLE, 'main.ts'),
    env: { ...process.env, PORT: String(port), SERVICE_DEV: `http://${LOOPBACK}:${servicePort}` },
    execArgv: ['--import', END_WITH_PARENT],
    print: printer('example', 'green'),
  });
}

function restartOnChange(folders: string[], programs: Supervised[]): void {
  watchFolders(folders, (path) => {
    say(`${relative(ROOT, path)} changed; restarting`);
    for (const program of programs) void program.restart();
  });
}

/** Resolves on the first signal; a second Ctrl-C kills everything. */
async function toldToEnd(programs: Supervised[]): Promise<number> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  await new Promise<void>((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
  say('stopping');
  for (const signal of signals) {
    process.on(signal, () => {
      for (const program of programs) program.kill();
      process.exit(1);
    });
  }
  return 0;
}

async function redisLost(redis: RedisInUse): Promise<number> {
  const lastWords = await (redis.lost ?? new Promise<never>(() => {}));
  say(`Redis exited unexpectedly: ${lastWords || 'no output'}`);
  return 1;
}

function welcome(port: number, example: boolean): string {
  const url = `http://${LOOPBACK}:${port}`;
  const event = JSON.stringify({ name: 'order/paid', data: { orderId: 'A1', customer: 'Ada', total: 120 } });
  return `
Ready.
  dashboard   ${url}/
  events      ${url}/e/<any key>
  API         ${url}/v1
  API docs    ${url}/docs
  Bull Board  ${url}/queues

Connect an app of yours: start it with one of these, and register it if it is not found by itself
  export SERVICE_DEV=${url}
  export INNGEST_DEV=${url}   # official Inngest SDKs
  curl ${url}/v1/apps -H 'content-type: application/json' -d '{"url": "http://127.0.0.1:3000/api/service"}'

Send a first event${example ? ' to the example' : ''}:
  curl ${url}/e/dev -H 'content-type: application/json' -d '${event}'
`;
}

/** Runs one action at a time; calls in the meantime queue one more. */
function inTurn(action: () => Promise<void>): () => void {
  let last = Promise.resolve();
  return () => {
    last = last.then(action);
  };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
