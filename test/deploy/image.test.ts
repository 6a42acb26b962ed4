import { type ChildProcess, execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { copyContext, copyFromStages, environmentOf, readStages, type Stage, valuesOf } from '../support/dockerfile.ts';
import { connectRedis, deleteKeys, freshPrefix, redisUrl } from '../support/redis.ts';
import { SECRETS } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NOBODY = 65_534;
const MEGABYTE_IN_KILOBYTES = 2 ** 10;
const megabytesOf = (folder: string) =>
  Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) / MEGABYTE_IN_KILOBYTES;

/** What the image has, without the image: no container engine is needed. */
describe('The image', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-image-'));
  const folderOf = (name: string) => join(folder, name);
  const [app, temporary] = [folderOf('app'), folderOf('tmp')];
  const stages = readStages(join(ROOT, 'Dockerfile'));
  const final = stages.at(-1) as Stage;
  const prefix = freshPrefix();
  let child: ChildProcess | undefined;
  const isRoot = process.getuid?.() === 0;
  /** As root, not even a read-only folder is one. */
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

  before(() => {
    for (const path of [app, temporary]) mkdirSync(path);
    chmodSync(folder, 0o755);
    chmodSync(temporary, 0o1777);
    for (const stage of stages.filter(({ base }) => base === 'source')) {
      const built = folderOf(stage.name as string);
      copyContext(ROOT, built);
      for (const command of valuesOf(stage, 'RUN')) runIn(built, command);
    }
    copyFromStages(final, folderOf, app);
    execFileSync('chmod', ['-R', 'a-w', app]);
  });
  afterEach(() => void child?.kill('SIGKILL'));
  after(async () => {
    execFileSync('chmod', ['-R', 'u+w', app]);
    rmSync(folder, { recursive: true, force: true });
    const redis = connectRedis();
    await deleteKeys(redis, prefix);
    redis.disconnect();
  });

  function runIn(cwd: string, command: string): void {
    const { PATH, HOME } = process.env;
    const text = command.replace(/--mount=\S+\s+/g, '');
    execFileSync('sh', ['-ec', text], { cwd, env: { PATH, HOME }, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  const options = (): SpawnOptions => {
    return {
      cwd: app,
      ...user,
      env: {
        ...environmentOf(final),
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: join(temporary, 'cache'),
        HOST: '127.0.0.1',
        PORT: '0',
        METRICS_PORT: '0',
        REDIS_URL: redisUrl(),
        KEY_PREFIX: prefix,
        PUBLIC_URL: 'http://localhost:8288',
        SHUTDOWN_DRAIN_SECONDS: '0',
        ...SECRETS,
      },
    };
  };

  it('has no build tools, no tests and no secrets, and takes less than 110 MB beside Node', () => {
    expect(readdirSync(app)).to.have.members([
      'LICENSE',
      'dashboard',
      'deploy',
      'dist',
      'docs',
      'node_modules',
      'package.json',
      'scripts',
      'src',
    ]);
    expect(readdirSync(join(app, 'dashboard/dist'))).to.include.members(['assets', 'index.html']);
    expect(readdirSync(join(app, 'node_modules'))).not.to.include.members(['typescript', 'vite', 'mocha']);
    expect(megabytesOf(app)).to.be.lessThan(110);
  });

  it('has packages of the size that the documents tell', () => {
    for (const page of ['docs/deploy.md', 'docs/production.md']) {
      const [, told] = /run trim.*?(\d+) MB stay/.exec(readFileSync(page, 'utf8')) ?? [];
      expect(megabytesOf(join(app, 'node_modules')), page).to.be.closeTo(Number(told), 5);
    }
  });

  it('checks a release, and starts web and worker, as a user without rights on a read-only tree', async () => {
    const release = spawnSync('scripts/start', ['release'], { ...options(), encoding: 'utf8' });
    expect(release.stdout + release.stderr).to.include('Ready for release');
    for (const role of ['web', 'worker']) {
      child = spawn('scripts/start', [role], { ...options(), stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
      const [{ port, metricsPort }] = (await once(child, 'message')) as [{ port?: number; metricsPort: number }];
      const env = { ...options().env, PORT: String(port), METRICS_PORT: String(metricsPort) };
      const health = spawn('node', ['deploy/health.js', role], { ...options(), env, stdio: 'ignore' });
      expect(await once(health, 'exit'), `health check of ${role}`).to.deep.equal([0, null]);
      if (port !== undefined) {
        expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).to.equal(200);
        expect(await transform(port)).to.equal('image/x');
      }
      const exited = once(child, 'exit');
      child.kill(valuesOf(final, 'STOPSIGNAL')[0] as NodeJS.Signals);
      expect(await exited, role).to.deep.equal([0, null]);
      const gone = spawn('node', ['deploy/health.js', role], { ...options(), env, stdio: 'ignore' });
      expect((await once(gone, 'exit'))[0], `health check of a stopped ${role}`).to.equal(1);
    }
    await until(() => readdirSync(join(temporary, 'cache')).length > 0, { describe: 'compiled code is cached' });
  });

  /** Runs in isolated-vm, in a process of its own. */
  async function transform(port: number): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}/v1/transforms/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRETS.API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        transform: 'function transform(evt) { return { name: "image/" + evt.name, data: {} }; }',
        body: { name: 'x' },
      }),
    });
    const { data } = (await response.json()) as { data: { event: { name: string } } };
    return data.event.name;
  }
});
