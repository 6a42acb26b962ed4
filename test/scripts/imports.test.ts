import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
// In two parts, because the rule's own files are searched too.
const HEADER = ['x-service', 'env'].join('-');

/** What a file beside the tree below contains, and the rule that it breaks, if any. */
type Case = [title: string, file: string, text: string, rule?: string];

/** Files that the cases import. */
const TREE = [
  ...[
    'src/web.ts',
    'src/api/http/m.ts',
    'src/api/views/m.ts',
    'src/workers/m.ts',
    'src/jobs/m.ts',
    'src/store/m.ts',
    'src/functions/m.ts',
  ],
  ...['src/store/runs/m.ts', 'src/jobs/runs/m.ts'],
  ...['src/model/m.ts', 'src/model/runs/run-status.ts', 'src/tracing/m.ts', 'src/utils/m.ts', 'src/log.ts'],
  ...['dashboard/src/app/m.ts', 'dashboard/src/pages/one/m.tsx', 'dashboard/src/ui/m.tsx', 'dashboard/src/api/m.ts'],
  ...[
    'clients/typescript/src/m.ts',
    'scripts/lib/m.ts',
    'bench/m.ts',
    'bench/statistics.ts',
    'test/support/m.ts',
    'test/m.ts',
  ],
];

const IMPORTS: Case[] = [
  ['an import downwards, over several layers', 'src/api/http/a.ts', `import { m } from '../../model/m.ts';`],
  ['an import inside one room', 'src/api/routes/a.ts', `import { m } from '../http/m.ts';`],
  ['an import upwards', 'src/model/a.ts', `import { m } from '../store/m.ts';`, 'src:model-import-down-only'],
  [
    'an import upwards inside of the store',
    'src/store/redis/a.ts',
    `import type { M } from '../runs/m.ts';`,
    'src/store:redis-import-down-only',
  ],
  [
    'an import upwards inside of the API',
    'src/api/http/a.ts',
    `import { m } from '../views/m.ts';`,
    'src/api:http-import-down-only',
  ],
  [
    'an import upwards inside of the jobs',
    'src/jobs/queues/a.ts',
    `import { m } from '../runs/m.ts';`,
    'src/jobs:queues-import-down-only',
  ],
  ['an import of an entry file', 'src/api/http/a.ts', `import '../../web.ts';`, 'src:api,workers-import-down-only'],
  [
    'an import sideways',
    'src/store/redis/a.ts',
    `import '../../functions/m.ts';`,
    'src:store,functions,transforms-stay-apart',
  ],
  [
    'an import from a room to one on its layer',
    'src/workers/a.ts',
    `import '../api/http/m.ts';`,
    'src:api,workers-stay-apart',
  ],
  [
    'an import on several lines',
    'src/model/a.ts',
    `\nimport {\n  m,\n} from '../jobs/m.ts';`,
    'src:model-import-down-only',
  ],
  ['a type-only import', 'src/model/a.ts', `import type { M } from '../api/http/m.ts';`, 'src:model-import-down-only'],
  [
    'an import of one type',
    'src/model/a.ts',
    `import { type M } from '../api/http/m.ts';`,
    'src:model-import-down-only',
  ],
  ['an export from', 'src/model/a.ts', `export * from "../jobs/m.ts";`, 'src:model-import-down-only'],
  ['a dynamic import', 'src/model/a.ts', `const m = await import('../jobs/m.ts');`, 'src:model-import-down-only'],
  [
    'a dynamic import in a template',
    'src/model/a.ts',
    `x = \`\${await import(\`../jobs/m.ts\`)}\`;`,
    'src:model-import-down-only',
  ],
  [
    'a dynamic import in a method',
    'src/model/a.ts',
    `class A { f() { return import('../jobs/m.ts'); } }`,
    'src:model-import-down-only',
  ],
  ['tracing above the model', 'src/tracing/a.ts', `import { m } from '../model/m.ts';`, 'src:tracing-import-down-only'],
  ['a room without a layer', 'src/utils/a.ts', `import 'node:fs';`, 'src:each-room-has-a-layer'],
  [
    'an import of a room without a layer',
    'src/api/http/a.ts',
    `import '../../utils/m.ts';`,
    'src:each-imported-room-has-a-layer',
  ],
  ['an import in a comment', 'src/model/a.ts', `// import '../api/http/m.ts';\n/* import '../api/http/m.ts'; */`],
  ['an import in a string', 'src/model/a.ts', `const s = "import '../api/http/m.ts'";`],
  ['an import that leads nowhere', 'src/model/a.ts', `import './gone.ts';`, 'resolvable'],
  ['Koa in api', 'src/api/http/a.ts', `import Koa from 'koa';\nimport Router from '@koa/router';`],
  ['Koa elsewhere', 'src/jobs/queues/a.ts', `import type Koa from 'koa';`, 'koa-at-home'],
  ['the router elsewhere', 'src/web.ts', `import Router from '@koa/router';`, 'koa-at-home'],
  ['koa-body elsewhere', 'src/store/redis/a.ts', `import body from 'koa-body';`, 'koa-at-home'],
  ['Bull Board elsewhere', 'src/jobs/queues/a.ts', `import '@bull-board/api/bullMQAdapter';`, 'koa-at-home'],
  ['BullMQ at home', 'src/workers/a.ts', `import { Worker } from 'bullmq';`],
  ['BullMQ elsewhere', 'src/api/http/a.ts', `import type { Queue } from 'bullmq';`, 'bullmq-at-home'],
  ['the sandbox elsewhere', 'src/model/a.ts', `import ivm from 'isolated-vm';`, 'isolates-at-home'],
  ['the thread pool elsewhere', 'src/jobs/queues/a.ts', `import { Piscina } from 'piscina';`, 'threads-at-home'],
  ['OpenTelemetry at home', 'src/tracing/a.ts', `import { trace } from '@opentelemetry/api';`],
  ['OpenTelemetry elsewhere', 'src/jobs/queues/a.ts', `import '@opentelemetry/api';`, 'opentelemetry-at-home'],
  ["BullMQ's spans elsewhere", 'src/jobs/queues/a.ts', `import 'bullmq-otel';`, 'opentelemetry-at-home'],
  ['ioredis elsewhere', 'src/jobs/queues/a.ts', `import { Redis } from 'ioredis';`, 'redis-at-home'],
  ['prom-client elsewhere', 'src/jobs/queues/a.ts', `import { Gauge } from 'prom-client';`, 'prometheus-at-home'],
  ['a development package in production', 'src/log.ts', `import { expect } from 'chai';`, 'no-development-packages'],
  ['a package of the tests in production', 'src/log.ts', `import Stripe from 'stripe';`, 'no-development-packages'],
  ['a script in the service', 'src/api/http/a.ts', `import '../../../scripts/lib/m.ts';`, 'src-stands-alone'],
  [
    "a type of the service in the dashboard's api",
    'dashboard/src/api/a.ts',
    `import type { M } from '../../../src/api/http/m.ts';`,
  ],
  [
    'the code of a pure file in the dashboard',
    'dashboard/src/ui/a.tsx',
    `import '../../../src/model/runs/run-status.ts';`,
  ],
  [
    'code of the service in the dashboard',
    'dashboard/src/ui/a.tsx',
    `import '../../../src/model/m.ts';`,
    'dashboard-takes-types',
  ],
  [
    'an import upwards in the dashboard',
    'dashboard/src/ui/a.tsx',
    `import '../pages/one/m.tsx';`,
    'dashboard/src:ui-import-down-only',
  ],
  [
    'an import from a page of the dashboard to another',
    'dashboard/src/pages/other/a.tsx',
    `import { m } from '../one/m.tsx';`,
    'dashboard-pages-stay-apart',
  ],
  [
    'the test support in the dashboard',
    'dashboard/src/ui/a.tsx',
    `import '../../../test/support/m.ts';`,
    'dashboard-stands-alone',
  ],
  [
    'the service in the client',
    'clients/typescript/src/a.ts',
    `import '../../../src/model/m.ts';`,
    'clients/typescript/src-imports',
  ],
  ['the service in a script', 'scripts/a.ts', `import '../src/model/m.ts';`, 'scripts-imports'],
  ['the service in the bench', 'bench/a.ts', `import '../src/model/m.ts';`],
  ['the test support in the bench', 'bench/a.ts', `import '../test/support/m.ts';`, 'bench-imports'],
  ['a test in chaos', 'chaos/a.ts', `import '../test/m.ts';`, 'chaos-imports'],
  ['the test support in fuzz', 'fuzz/a.ts', `import '../test/support/m.ts';`],
  ['the bench in fuzz', 'fuzz/a.ts', `import '../bench/m.ts';`, 'fuzz-imports'],
  ['the service in the command line', 'cli/src/a.ts', `import '../../src/model/m.ts';`, 'cli-imports'],
  [
    'the service in an example',
    'examples/typescript/a.ts',
    `import '../../src/model/m.ts';`,
    'examples/typescript-imports',
  ],
];

const LINTED: Case[] = [
  ['the environment in config.ts', 'src/config.ts', 'export const env = process.env;'],
  ['the environment elsewhere', 'src/a.ts', 'export const debug = process.env.DEBUG;', 'noProcessEnv'],
  ['the environment in a script', 'scripts/a.ts', 'export const debug = process.env.DEBUG;'],
  ['the environment taken apart', 'src/a.ts', 'export const { env } = process;', 'reads the environment'],
  ['the environment imported', 'src/a.ts', `export { env } from 'node:process';`, 'reads the environment'],
  [
    'the process imported',
    'src/a.ts',
    `import { env } from 'node:process';\nexport default env;`,
    'reads the environment',
  ],
  ['the headers at home', 'src/functions/headers.ts', `export const h = '${HEADER}';`],
  ['a header elsewhere', 'src/functions/a.ts', `export default get('${HEADER.toUpperCase()}');`, 'names the headers'],
  ['a header as a key', 'src/functions/a.ts', `export default { '${HEADER}': 1 };`, 'names the headers'],
  [
    'the start of a header',
    'src/api/http/a.ts',
    `export default get(\`${HEADER.slice(0, -3)}\${name}\`);`,
    'names the headers',
  ],
  ['an import in a type', 'src/model/a.ts', `export type M = typeof import('../jobs/m.ts');`, 'do not see it'],
  ['a path that is resolved', 'bench/a.ts', `export default import.meta.resolve('./m.ts');`, 'do not see it'],
  ['a package that is resolved', 'bench/a.ts', `export default import.meta.resolve('koa');`],
];

describe('The import rules', () => {
  let root: string;
  /** By file. */
  let found: Map<string, string[]>;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'tidegate-imports-'));
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    write(root, 'package.json', JSON.stringify({ dependencies, devDependencies: { chai: '*' } }));
    for (const file of TREE) write(root, file, 'export {};');
    for (const [index, [, file, text]] of IMPORTS.entries()) write(root, caseFile(file, index), text);
    for (const name of ['a', 'b', 'c']) write(root, `clients/typescript/src/circle-${name}.ts`, circular(name));
    write(root, 'src/worker.ts', `import './workers/koa.ts';`);
    write(root, 'src/workers/koa.ts', `import './again.ts';`);
    write(root, 'src/workers/again.ts', `import 'koa';`);
    found = violationsIn(check(root).output);
  });
  after(() => {
    rmSync(root, { recursive: true });
  });

  for (const [index, [title, file, , rule]] of IMPORTS.entries()) {
    it(rule ? `report ${title}` : `accept ${title}`, () => {
      expect(found.get(caseFile(file, index)) ?? []).to.deep.equal(rule ? [rule] : []);
    });
  }

  it('report an import cycle between files, even of types and outside src/', () => {
    const circles = ['a', 'b', 'c'].flatMap((name) => found.get(`clients/typescript/src/circle-${name}.ts`) ?? []);
    expect(circles).to.deep.equal(['no-circles', 'no-circles', 'no-circles']);
  });

  it('report Koa in the module graph of the worker', () => {
    expect(found.get('src/worker.ts')).to.deep.equal(['no-koa-in-workers']);
  });

  it('find no error in this repository, whose diagrams are up to date', function () {
    // Half a minute of CPU time.
    this.timeout(600_000);
    const { status, output } = check(ROOT);
    expect(output)
      .not.to.match(/^ *error/m)
      .and.not.to.include('stale');
    expect(status).to.equal(0);
  });

  it('fail when a diagram is stale', () => {
    write(root, 'docs/internals.md', '<!-- generated by scripts/check-imports.ts -->\nold\n<!-- end -->\n');
    expect(check(root)).to.deep.include({ status: 1 }).and.property('output').include('docs/internals.md are stale');
  });
});

describe('The lint rules', () => {
  let root: string;
  let found: Map<string, string[]>;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'tidegate-lint-'));
    for (const part of ['biome.json', '.gitignore', 'scripts/lint'])
      cpSync(join(ROOT, part), join(root, part), { recursive: true });
    for (const [index, [, file, text]] of LINTED.entries()) write(root, caseFile(file, index), text);
    const args = ['lint', '--reporter=github', '--max-diagnostics=none', root];
    const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/biome'), args, { cwd: root, encoding: 'utf8' });
    found = Map.groupBy(
      stdout.split('\n').filter((line) => line.startsWith('::error')),
      (line) => relative(root, /file=([^,]+)/.exec(line)?.[1] ?? ''),
    );
  });
  after(() => {
    rmSync(root, { recursive: true });
  });

  for (const [index, [title, file, , rule]] of LINTED.entries()) {
    it(rule ? `report ${title}` : `accept ${title}`, () => {
      const problems = found.get(caseFile(file, index)) ?? [];
      expect(problems).to.have.lengthOf(rule ? 1 : 0);
      if (rule) expect(problems[0]).to.include(rule);
    });
  }
});

function circular(name: string): string {
  return (
    { a: `import './circle-b.ts';`, b: `import type { C } from './circle-c.ts';` }[name] ??
    `export { a } from './circle-a.ts';`
  );
}

function write(root: string, file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), `${text}\n`);
}

/** A name of its own, so that one run checks all cases. */
function caseFile(file: string, index: number): string {
  return file.replace(/\ba\.(tsx?)$/, `case-${index}.$1`);
}

/** The names of the rules that each file breaks. */
function violationsIn(output: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [, rule = '', file = ''] of output.matchAll(/^ *(?:error|warn) (\S+): (\S+)/gm)) {
    found.set(file, [...(found.get(file) ?? []), rule]);
  }
  return found;
}

function check(root: string): { status: number | null; output: string } {
  const args = [join(ROOT, 'scripts/check-imports.ts'), root];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  expect(stderr).to.equal('');
  return { status, output: stdout };
}
