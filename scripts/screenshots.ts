/** Takes the pictures of docs/dashboard.md: starts the service in production mode and the example shop with their own Redis, simulates
 *  customers for a while, and then opens each page in light and dark mode. Called by scripts/screenshots. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDashboard, isDashboardStale } from './lib/dashboard.ts';
import { printer } from './lib/log-lines.ts';
import { takePictures } from './lib/pictures.ts';
import { freePort, LOOPBACK } from './lib/ports.ts';
import { Problem, runMain } from './lib/problem.ts';
import { findRedis } from './lib/redis-program.ts';
import { startRedis } from './lib/redis-server.ts';
import { openShop, type Shop } from './lib/shop.ts';
import { type Program, type Supervised, supervise } from './lib/supervised.ts';

const HELP = `scripts/screenshots [--minutes 2] [--only <name>] [--into docs/pictures]

Takes the pictures of docs/dashboard.md from the running service and its example shop.

  --minutes   how long to simulate customers first; charts need some data
  --only      take only pictures whose names start with this, such as run
  --into      folder to write to`;

const ROOT = resolve(import.meta.dirname, '..');
const OPTIONS = {
  help: { type: 'boolean' },
  minutes: { type: 'string', default: '2' },
  only: { type: 'string', default: '' },
  into: { type: 'string', default: 'docs/pictures' },
} as const;
const ADMIN = { email: 'ada@shop.example', password: 'correct horse battery staple' };
const SECRETS = {
  EVENT_KEYS: 'evk-of-the-pictures',
  SECRET_KEY: 'the pictures have no secrets worth a key',
  SIGNING_KEY: 'signkey-prod-0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  API_KEY: 'api-key-of-the-pictures',
};

await runMain(async () => {
  const { help, minutes, only, into } = parseArgs({ options: OPTIONS }).values;
  if (help) return console.log(HELP);
  const lastsMs = Number(minutes) * 60_000;
  if (!(lastsMs >= 0)) throw new Problem(`--minutes: got "${minutes}"; expected a number`);
  if (isDashboardStale(ROOT)) await buildDashboard(ROOT);
  const folder = resolve(ROOT, into);
  mkdirSync(folder, { recursive: true });
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-pictures-'));
  const redis = await startRedis(findRedis(), dir);
  const programs: Supervised[] = [];
  try {
    const shop = await startEverything(redis.url, programs);
    await shop.work(lastsMs);
    for (const file of await takePictures({ shop, folder, only, ...ADMIN })) console.log(file);
  } finally {
    for (const program of programs.reverse()) await program.stop();
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});

/** @param programs takes what was started, to be ended */
async function startEverything(redisUrl: string, programs: Supervised[]): Promise<Shop> {
  const [port, shopPort] = [await freePort(8288), await freePort(3939)];
  const url = `http://${LOOPBACK}:${port}`;
  const service = {
    ...process.env,
    ...SECRETS,
    MODE: 'production',
    HOST: LOOPBACK,
    PORT: String(port),
    PUBLIC_URL: url,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'error',
    // The shop's functions fail and are tried again while the pictures are waited for.
    RETRY_SCALE: '0.05',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  };
  const example = {
    ...process.env,
    PORT: String(shopPort),
    SERVICE_BASE_URL: url,
    SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
    SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
    SERVICE_SERVE_ORIGIN: `http://${LOOPBACK}:${shopPort}`,
  };
  const ready = ['web', 'worker'].map((role) =>
    started(programs, { entry: join(ROOT, `src/${role}.ts`), env: service, print: printer(role, 'cyan') }),
  );
  await Promise.all(ready);
  const app = supervise({
    entry: join(ROOT, 'examples/typescript/main.ts'),
    env: example,
    execArgv: ['--import', join(ROOT, 'scripts/lib/end-with-parent.ts')],
    // What the shop has to say of each order is not what this is about.
    print: () => {},
  });
  programs.push(app);
  app.start();
  return openShop({ url, apiKey: SECRETS.API_KEY, eventKey: SECRETS.EVENT_KEYS });
}

function started(programs: Supervised[], program: Omit<Program, 'onReady'>): Promise<void> {
  return new Promise((onReady) => {
    const supervised = supervise({ ...program, onReady });
    programs.push(supervised);
    supervised.start();
  });
}
