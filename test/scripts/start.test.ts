import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { listProcesses } from '../../scripts/lib/processes.ts';
import { connectRedis, deleteKeys, freshPrefix, redisUrl } from '../support/redis.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const START = join(ROOT, 'scripts/start');

describe('scripts/start', () => {
  it('starts web, worker and release for the Procfile', () => {
    const procfile = readFileSync(join(ROOT, 'Procfile'), 'utf8');
    expect(procfile)
      .to.match(/^web: scripts\/start web$/m)
      .and.match(/^worker: scripts\/start worker$/m)
      .and.match(/^release: scripts\/start release$/m);
  });

  it('becomes the process with a small heap, and caches the compiled code for the next start', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'tidegate-start-'));
    const prefix = freshPrefix();
    const redis = connectRedis();
    try {
      const settings = {
        MODE: 'dev',
        DISCOVERY: 'false',
        PORT: '0',
        LOG_LEVEL: 'silent',
        REDIS_URL: redisUrl(),
        KEY_PREFIX: prefix,
      };
      const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache, ...settings };
      const child = spawn(START, ['web'], { cwd: tmpdir(), env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      const [{ port }] = (await once(child, 'message')) as [{ port: number }];
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).to.equal(200);
      const self = listProcesses().find(({ pid }) => pid === child.pid);
      expect(self?.command).to.match(
        /^node --max-semi-space-size=\d+ --heap-growing-percent=\d+ (src\/web\.ts|dist\/service\/web\.js)$/,
      );
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited).to.deep.equal([0, null]);
      expect(readdirSync(cache)).not.to.deep.equal([]);
    } finally {
      await deleteKeys(redis, prefix);
      redis.disconnect();
      rmSync(cache, { recursive: true, force: true });
    }
  });

  for (const [version, says] of [
    ['v20.19.5', 'Tidegate needs Node 24 or newer; found Node 20.19.5\n'],
    ['v18.0.0', 'Tidegate needs Node 24 or newer; found Node 18.0.0\n'],
    ['v9.1.0', 'Tidegate needs Node 24 or newer; found Node 9.1.0\n'],
  ] as const) {
    it(`says which Node it needs when it finds ${version}`, () => {
      const bin = mkdtempSync(join(tmpdir(), 'tidegate-node-'));
      try {
        writeFileSync(join(bin, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo ${version}\n`, { mode: 0o755 });
        for (const role of ['web', 'worker', 'release']) {
          const { status, stderr } = spawnSync(START, [role], {
            encoding: 'utf8',
            env: { PATH: `${bin}:/usr/bin:/bin` },
          });
          expect([status, stderr], role).to.deep.equal([1, says]);
        }
      } finally {
        rmSync(bin, { recursive: true, force: true });
      }
    });
  }

  it('starts the bundles of npm run build, unless they are older than the sources', () => {
    const tree = mkdtempSync(join(tmpdir(), 'tidegate-built-'));
    const write = (path: string, time: number, text = '') => {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text, { mode: 0o755 });
      utimesSync(join(tree, path), time, time);
    };
    try {
      const node = '#!/bin/sh\n[ "$1" = --version ] && echo v24.0.0 || echo "$*"\n';
      cpSync(START, join(tree, 'scripts/start'), { recursive: true });
      write('bin/node', 0, node);
      const started = (role: string) =>
        spawnSync(join(tree, 'scripts/start'), [role], {
          encoding: 'utf8',
          env: { PATH: `${tree}/bin:/usr/bin:/bin` },
        }).stdout.trim();
      write('package-lock.json', 1_000);
      write('src/web.ts', 1_000);
      expect(started('release')).to.equal('src/release.ts');
      write('dist/service/web.js', 1_000);
      expect(started('release')).to.equal('dist/service/release.js');
      write('src/store/lua/a.lua', 2_000);
      expect(started('release')).to.equal('src/release.ts');
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  });

  it('starts a supervisor for several processes', () => {
    const bin = mkdtempSync(join(tmpdir(), 'tidegate-node-'));
    try {
      writeFileSync(join(bin, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v24.0.0 || echo "$*"\n', {
        mode: 0o755,
      });
      const started = (role: string, settings: Record<string, string>) => {
        const env = { PATH: `${bin}:/usr/bin:/bin`, ...settings };
        return (
          spawnSync(START, [role], { encoding: 'utf8', env })
            .stdout.replace(/--\S+ /g, '')
            // This tree may be built.
            .replace(/dist\/service\/(\w+)\.js/, 'src/$1.ts')
            .trim()
        );
      };
      expect(started('web', { WORKER_CONCURRENCY: '2' })).to.equal('src/web.ts');
      expect(started('web', { WEB_CONCURRENCY: '' })).to.equal('src/web.ts');
      expect(started('web', { WEB_CONCURRENCY: '1' })).to.equal('src/web.ts');
      expect(started('web', { WEB_CONCURRENCY: '2' })).to.equal('src/supervisor.ts web');
      expect(started('worker', { WORKER_CONCURRENCY: '2' })).to.equal('src/supervisor.ts worker');
      expect(started('worker', { WEB_CONCURRENCY: '2' })).to.equal('src/worker.ts');
      expect(started('release', { WEB_CONCURRENCY: '2', WORKER_CONCURRENCY: '2' })).to.equal('src/release.ts');
    } finally {
      rmSync(bin, { recursive: true, force: true });
    }
  });

  it('shows its usage', () => {
    const { status, stderr } = spawnSync(START, ['wob'], { encoding: 'utf8' });
    expect([status, stderr]).to.deep.equal([2, 'Usage: scripts/start web|worker|release|move\n']);
  });
});
