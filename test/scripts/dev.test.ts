import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import { freePort } from '../../scripts/lib/ports.ts';
import { listProcesses } from '../../scripts/lib/processes.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Plays an entry point: ready at once; says what it was given, and when it ends. */
const STAND_IN = `
import { basename } from 'node:path';
const name = basename(process.argv[1]);
process.on('SIGTERM', () => { console.log(name + ' ends'); process.exit(0); });
if (name !== 'main.ts') process.on('disconnect', () => process.exit(0));
setInterval(() => {}, 1000);
const { MODE, PORT, REDIS_URL, REDIS_CLUSTER_URLS, DATABASE_URL, HOT_HOURS } = process.env;
console.log(JSON.stringify({ level: 'info', time: new Date().toISOString(), msg: name + ' begins', MODE, PORT, REDIS_URL, REDIS_CLUSTER_URLS, DATABASE_URL, HOT_HOURS }));
process.send({ ready: true });
`;

describe('scripts/dev', () => {
  let clone: string;
  let port: number;
  let started: ChildProcess[];
  let settings: Record<string, string>;

  beforeEach(async () => {
    clone = mkdtempSync(join(tmpdir(), 'tidegate-dev-'));
    port = await freePort();
    started = [];
    settings = {};
    cpSync(join(ROOT, 'scripts'), join(clone, 'scripts'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    write('package.json', '{ "type": "module" }');
    for (const entry of ['src/web.ts', 'src/worker.ts', 'examples/typescript/main.ts']) write(entry, STAND_IN);
  });

  afterEach(async () => {
    await Promise.all(started.filter(isRunning).map((child) => end(child, 'SIGTERM')));
    rmSync(clone, { recursive: true });
  });

  it('starts Redis, web, worker and the example, and ends them in order', async () => {
    const dev = run();
    for (const program of ['web.ts', 'worker.ts', 'main.ts']) await dev.says(`${program} begins`);
    expect(dev.output()).to.match(/^Tidegate in dev mode: .* Not for production/);
    expect(dev.output())
      .to.include(`http://127.0.0.1:${port}/e/<any key>`)
      .and.include(`curl http://127.0.0.1:${port}/e/`)
      .and.include(`export SERVICE_DEV=http://127.0.0.1:${port}\n`)
      .and.include(`export INNGEST_DEV=http://127.0.0.1:${port} `)
      .and.include(`curl http://127.0.0.1:${port}/v1/apps `);
    expect(dev.output()).to.match(/^web +[\d:.]+ info +web\.ts begins +MODE=dev PORT=\d+ REDIS_URL=redis:/m);
    expect(readFileSync(join(clone, '.data/redis-port'), 'utf8')).to.match(/^\d+$/);
    expect(await end(dev.child, 'SIGTERM')).to.equal(0);
    expect(dev.output().match(/\S+ ends/g)).to.deep.equal(['main.ts ends', 'web.ts ends', 'worker.ts ends']);
    expect(processesOf(clone)).to.deep.equal([]);
  });

  it('starts a Redis that fulfills what INGEST_DURABILITY promises', async () => {
    settings = { INGEST_DURABILITY: 'fsync' };
    const dev = run('--no-example');
    await dev.says('web.ts begins');
    const redis = new Redis(Number(readFileSync(join(clone, '.data/redis-port'), 'utf8')));
    expect(await redis.config('GET', 'appendfsync')).to.deep.equal(['appendfsync', 'always']);
    redis.disconnect();
  });

  it('starts a Postgres of its own with --archive, and keeps its data', async () => {
    // It does not run as root.
    chmodSync(clone, 0o755);
    const dev = run('--archive', '--no-example');
    await dev.says('web.ts begins');
    expect(dev.output()).to.match(/archive: events and runs move to postgres:\S+ after 0\.01 h/);
    const [, url = ''] = /web\.ts begins .*DATABASE_URL=(\S+) HOT_HOURS=0\.01/.exec(dev.output()) ?? [];
    const write = new pg.Client({ connectionString: url });
    await write.connect();
    await write.query('CREATE TABLE a (b int)');
    await write.end();
    port = await freePort();
    const second = run('--archive', '--no-example');
    await second.says('already running in this clone');
    expect(await end(dev.child, 'SIGTERM')).to.equal(0);
    expect(processesOf(clone)).to.deep.equal([]);
    const third = run('--archive', '--no-example');
    await third.says('web.ts begins');
    const [, again = ''] = /web\.ts begins .*DATABASE_URL=(\S+)/.exec(third.output()) ?? [];
    const read = new pg.Client({ connectionString: again });
    await read.connect();
    expect((await read.query('SELECT * FROM a')).rows).to.deep.equal([]);
    await read.end();
    await end(third.child, 'SIGKILL');
    await until(() => processesOf(clone).length === 0, { describe: () => `gone: ${processesOf(clone)}` });
    settings = { DATABASE_URL: url };
    const both = run('--archive');
    await both.says('DATABASE_URL names a Postgres; unset it to use --archive.');
    expect(await exitCode(both.child)).to.equal(1);
    expect(processesOf(clone)).to.deep.equal([]);
  });

  it('starts a Redis Cluster with --cluster, and keeps its data', async () => {
    const first = run('--cluster', '--no-example');
    await first.says('web.ts begins');
    const [, urls = ''] = /web\.ts begins .*REDIS_CLUSTER_URLS=(\S+)/.exec(first.output()) ?? [];
    expect(urls.split(',')).to.have.lengthOf(6);
    expect(first.output()).not.to.include(' REDIS_URL=');
    const write = new Cluster(urls.split(','));
    await write.set('a', '1');
    write.disconnect();
    expect(await end(first.child, 'SIGTERM')).to.equal(0);
    expect(processesOf(clone)).to.deep.equal([]);
    const second = run('--cluster', '--no-example');
    await second.says('web.ts begins');
    const read = new Cluster(urls.split(','));
    expect(await read.get('a')).to.equal('1');
    read.disconnect();
    port = await freePort();
    const third = run('--cluster');
    await third.says('already running in this clone');
    expect(await exitCode(third.child)).to.equal(1);
    await end(second.child, 'SIGKILL');
    await until(() => processesOf(clone).length === 0, { describe: () => `gone: ${processesOf(clone)}` });
  });

  it('says what is wrong with the configured Redis', async () => {
    const free = await freePort();
    settings = { REDIS_CLUSTER_URLS: `redis://127.0.0.1:${free}` };
    const unreachable = run();
    await unreachable.says(`REDIS_CLUSTER_URLS: cannot connect to a Redis Cluster at 127.0.0.1:${free} (`);
    expect(await exitCode(unreachable.child)).to.equal(1);
    settings = { REDIS_URL: 'redis://127.0.0.1:1' };
    const both = run('--cluster');
    await both.says('REDIS_URL names one Redis; unset it to use --cluster.');
    expect(await exitCode(both.child)).to.equal(1);
  });

  it('omits the example with --no-example', async () => {
    const dev = run('--no-example');
    await dev.says('Send a first event:');
    expect(dev.output()).to.include('web.ts begins').and.not.include('main.ts begins');
  });

  it('restarts only what a change affects', async () => {
    const dev = run();
    await dev.says('main.ts begins');
    await dev.says('worker.ts begins');
    write('src/model/new.ts', 'export {};');
    await dev.says('web.ts begins', 2);
    await dev.says('worker.ts begins', 2);
    write('examples/typescript/functions.ts', 'export {};');
    await dev.says('main.ts begins', 2);
    expect(dev.output().match(/web\.ts begins/g)).to.have.lengthOf(2);
  });

  it('reports a program that crashes, and restarts it at the next change', async () => {
    write('src/worker.ts', 'throw new Error("no good");');
    const dev = run('--no-example');
    await dev.says('exited unexpectedly (exit code 1)');
    expect(dev.output()).to.match(/^worker +Error: no good$/m);
    write('src/worker.ts', STAND_IN);
    await dev.says('worker.ts begins');
    expect(dev.output().match(/no good/g)).to.have.lengthOf.below(4);
  });

  it('leaves nothing running when it is killed', async () => {
    const dev = run();
    await dev.says('main.ts begins');
    await dev.says('worker.ts begins');
    expect(processesOf(clone)).to.have.lengthOf.at.least(4);
    await end(dev.child, 'SIGKILL');
    await until(() => processesOf(clone).length === 0, { describe: () => `gone: ${processesOf(clone)}` });
  });

  it('refuses to run twice in one clone', async () => {
    const dev = run('--no-example');
    await dev.says('web.ts begins');
    port = await freePort();
    const second = run();
    await second.says('already running in this clone');
    expect(await exitCode(second.child)).to.equal(1);
  });

  it('says that the port is taken, and what to do', async () => {
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const dev = run();
    await dev.says(`Port ${port} is in use`);
    expect(dev.output()).to.include('PORT=');
    expect(await exitCode(dev.child)).to.equal(1);
    other.close();
  });

  it('shows its usage, and names an unknown option', async () => {
    const help = run('--help');
    expect(await exitCode(help.child)).to.equal(0);
    expect(help.output()).to.include('--no-example').and.include('REDIS_URL');
    const wrong = run('--exmaple');
    expect(await exitCode(wrong.child)).to.equal(1);
    expect(wrong.output()).to.include("Unknown option '--exmaple'");
  });

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    writeFileSync(join(clone, file), text);
  }

  function run(...args: string[]) {
    const { REDIS_URL: _, ...env } = process.env;
    const child = spawn(process.execPath, [join(clone, 'scripts/dev.ts'), ...args], {
      env: { ...env, ...settings, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const says = (words: string, times = 1) =>
      until(() => output.split(words).length > times, {
        describe: () => `it says "${words}" ${times}×, in:\n${output}`,
      });
    return { child, says, output: () => output };
  }
});

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Resolves when its output has been read to the end, too. */
async function exitCode(child: ChildProcess): Promise<number | null> {
  if (isRunning(child) || !child.stdout?.closed) await once(child, 'close');
  return child.exitCode;
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  child.kill(signal);
  return exitCode(child);
}

/** Those started from the clone, or with its data. */
function processesOf(clone: string): string[] {
  return listProcesses()
    .map(({ command }) => command)
    .filter((command) => command.includes(clone));
}
