import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { publint } from 'publint';

const ROOT = resolve(import.meta.dirname, '../../..');
const BIN = join(ROOT, 'node_modules/.bin');
const run = promisify(execFile);

const ENTRIES = [
  ...[
    'astro',
    'bun',
    'cloudflare',
    'connect',
    'deno',
    'express',
    'fastify',
    'fetch',
    'h3',
    'hono',
    'koa',
    'lambda',
    'next',
  ],
  ...['nitro', 'node', 'nuxt', 'postgres', 'realtime', 'remix', 'sveltekit', 'test'],
];

/** Uses every entry like a consumer. */
const CONSUMER = `
import { encryption, inject, NonRetriableError, Tidegate, verifyWebhook } from 'tidegate';
import { serve as serveAstro } from 'tidegate/astro';
import { serve as serveBun } from 'tidegate/bun';
import { serve as serveCloudflare } from 'tidegate/cloudflare';
import { type Connection, connect } from 'tidegate/connect';
import { serve as serveDeno } from 'tidegate/deno';
import { serve as serveH3 } from 'tidegate/h3';
import { serve as serveLambda } from 'tidegate/lambda';
import { serve as serveNitro } from 'tidegate/nitro';
import { serve } from 'tidegate/node';
import { serve as serveNuxt } from 'tidegate/nuxt';
import { serve as serveRemix } from 'tidegate/remix';
import { serve as serveSvelteKit } from 'tidegate/sveltekit';
import { serve as serveKoa } from 'tidegate/koa';
import { serve as serveExpress } from 'tidegate/express';
import { serve as serveFastify } from 'tidegate/fastify';
import { serve as serveFetch } from 'tidegate/fetch';
import { serve as serveHono } from 'tidegate/hono';
import { serve as serveNext } from 'tidegate/next';
import { outbox } from 'tidegate/postgres';
import { subscribe } from 'tidegate/realtime';
import { testFunction } from 'tidegate/test';
const client = new Tidegate<{ 'order/paid': { data: { total: number } } }>({ id: 'shop', isDev: true });
const fn = client.createFunction({ id: 'fn', triggers: { event: 'order/paid' } }, async ({ event, step }) => {
  const total: number = event.data.total;
  return step.run('double', () => total * 2);
});
const options = { client, functions: [fn], path: '/api' };
export const handlers = [serve, serveKoa, serveExpress, serveFastify, serveFetch, serveHono].map((of) => of(options));
export const more = [serveBun, serveCloudflare, serveDeno, serveH3, serveLambda, serveNitro, serveNuxt].map((of) => of(options));
export const routes = [serveNext(options), serveAstro(options), serveRemix(options), serveSvelteKit(options)];
const injecting = new Tidegate({ id: 'shop', middleware: [inject({ rate: 2 }), encryption({ key: 'k'.repeat(32) })] });
export const injected = injecting.createFunction({ id: 'b', triggers: [] }, ({ rate }) => rate * 2);
export const result: Promise<number | undefined> = testFunction(fn, { event: { data: { total: 1 } } }).then((r) => r.result);
export const connected: Promise<Connection> = connect({ client, functions: [fn], maxConcurrency: 3 });
export const others = [NonRetriableError, verifyWebhook, subscribe, outbox];
// @ts-expect-error: proves that the types are loaded
client.send({ name: 'order/paid', data: { total: '1' } });
`;

describe('The published TypeScript package', () => {
  let dir: string;
  let dist: string;

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tidegate-package-'));
    dist = join(dir, 'node_modules/tidegate');
    mkdirSync(join(dir, 'node_modules/@types'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/@types/node'), join(dir, 'node_modules/@types/node'));
    symlinkSync(join(ROOT, 'node_modules/undici-types'), join(dir, 'node_modules/undici-types'));
    await run(process.execPath, [join(ROOT, 'clients/typescript/build.ts'), dist]);
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('passes publint', async () => {
    const { messages } = await publint({ pkgDir: dist, pack: false, strict: true });
    expect(messages).to.deep.equal([]);
  });

  it('names its repository', () => {
    const { repository, homepage, bugs, license, keywords } = JSON.parse(
      readFileSync(join(dist, 'package.json'), 'utf8'),
    );
    expect(repository).to.deep.equal({
      type: 'git',
      url: 'git+https://github.com/tidegate/tidegate.git',
      directory: 'clients/typescript',
    });
    expect([homepage, bugs.url, license].every((text) => typeof text === 'string')).to.equal(true);
    expect(keywords).to.include('workflows');
  });

  it('installs from its tarball into an empty project', async () => {
    const project = mkdtempSync(join(tmpdir(), 'tidegate-install-'));
    try {
      const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', project, dist]);
      writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
      const flags = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
      await run('npm', ['install', ...flags, join(project, stdout.trim())], { cwd: project });
      const code =
        "import { Tidegate, encryption } from 'tidegate'; import { serve } from 'tidegate/lambda'; console.log(typeof serve, encryption.name, new Tidegate({ id: 'a' }).id)";
      writeFileSync(join(project, 'main.js'), code);
      expect((await run(process.execPath, ['main.js'], { cwd: project })).stdout).to.equal('function encryption a\n');
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  });

  it('contains only the compiled files, the command line, README and LICENSE, and has no dependencies', () => {
    const commandLine = ['cli-licenses.txt', 'cli.js'];
    const files = ['LICENSE', 'README.md', 'cjs', ...commandLine, 'esm', 'package.json'];
    expect(readdirSync(dist).sort()).to.deep.equal(files);
    const { exports, private: hidden, dependencies } = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8'));
    expect([hidden, dependencies]).to.deep.equal([undefined, undefined]);
    expect(Object.keys(exports).sort()).to.deep.equal(['.', ...ENTRIES.map((entry) => `./${entry}`)]);
    for (const entry of Object.values<Record<string, object>>(exports)) {
      for (const condition of Object.values(entry)) expect(Object.keys(condition)).to.deep.equal(['types', 'default']);
    }
  });

  it('has the command line as the program tidegate', async () => {
    const { bin, version } = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8'));
    const { stdout } = await run(join(dist, bin.tidegate), ['--version']);
    expect(stdout).to.equal(`${version}\n`);
  });

  for (const [format, load] of [
    ['mjs', (name: string) => `(await import('${name}'))`],
    ['cjs', (name: string) => `require('${name}')`],
  ] as const) {
    it(`loads as ${format} and runs`, async () => {
      const entries = ENTRIES.filter((entry) => !['connect', 'postgres', 'realtime', 'test'].includes(entry)).map(
        (entry) => `typeof ${load(`tidegate/${entry}`)}.serve`,
      );
      const code = `
        const { Tidegate } = ${load('tidegate')};
        const { testFunction } = ${load('tidegate/test')};
        const client = new Tidegate({ id: 'shop', isDev: true });
        const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, ({ step }) => step.run('b', () => 3));
        const serves = [${entries.join(', ')}];
        testFunction(fn).then(({ result }) => console.log(JSON.stringify([result, ...serves])));`;
      writeFileSync(join(dir, `main.${format}`), code);
      const { stdout } = await run(process.execPath, [join(dir, `main.${format}`)]);
      expect(JSON.parse(stdout)).to.deep.equal([3, ...entries.map(() => 'function')]);
    });
  }

  for (const [resolution, file] of [
    ['nodenext', 'main.mts'],
    ['nodenext', 'main.cts'],
    ['bundler', 'main.ts'],
  ] as const) {
    it(`has types that resolve for ${file} under ${resolution}`, async () => {
      writeFileSync(join(dir, file), CONSUMER);
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const flags = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', '--module', module];
      const { stdout } = await run(join(BIN, 'tsc'), [...flags, '--moduleResolution', resolution, file], {
        cwd: dir,
      }).catch((error) => error);
      expect(stdout).to.equal('');
    });
  }
});
