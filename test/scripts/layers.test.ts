import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';

const CHECK = resolve(import.meta.dirname, '../../scripts/check-layers.ts');
// In two parts, for this file is searched too, and by people.
const HEADER = ['x-service', 'env'].join('-');

/** A file of a tree, and what the check says of it: nothing, or the line and a part of the message. */
const CASES: [title: string, file: string, text: string, violation?: [line: number, part: string]][] = [
  ['an import downwards, over several layers', 'src/api/a.ts', `import { m } from '../model/m.ts';`],
  ['an import inside one folder', 'src/api/a.ts', `import { m } from './m.ts';`],
  ['an import upwards', 'src/model/a.ts', `import { m } from '../store/m.ts';`, [1, 'store is above model']],
  ['an entry file imported', 'src/api/a.ts', `import '../web.ts';`, [1, 'web.ts is above api']],
  ['an import sideways', 'src/store/a.ts', `import { m } from '../functions/m.ts';`, [1, 'side by side']],
  ['an import over several lines', 'src/model/a.ts', `\nimport {\n  m,\n} from '../jobs/m.ts';`, [2, 'jobs is above']],
  ['a type-only import', 'src/model/a.ts', `import type { M } from '../api/m.ts';`, [1, 'api is above']],
  ['an export from', 'src/model/a.ts', `export * from "../jobs/m.ts";`, [1, 'jobs is above']],
  ['a dynamic import', 'src/model/a.ts', `const m = await import('../jobs/m.ts');`, [1, 'jobs is above']],
  [
    'a dynamic import in a template',
    'src/model/a.ts',
    ['x = `$', '{await import(`../jobs/m.ts`)}`;'].join(''),
    [1, 'jobs is above'],
  ],
  ['an import in a type', 'src/model/a.ts', `type M = typeof import('../jobs/m.ts');`, [1, 'jobs is above']],
  ['a folder without a layer', 'src/utils/a.ts', `import 'node:fs';`, [1, 'utils is in no layer']],
  ['an import in a comment', 'src/model/a.ts', `// import '../api/m.ts';\n/* import '../api/m.ts'; */`],
  ['an import in a string', 'src/model/a.ts', `const s = "import '../api/m.ts'";`],
  [
    'an import after a quote in a regular expression',
    'src/model/a.ts',
    `const q = /['"\`]/;\nimport '../api/m.ts';`,
    [2, 'api is'],
  ],
  ['Koa in api', 'src/api/a.ts', `import Koa from 'koa';\nimport Router from '@koa/router';`],
  ['Koa elsewhere', 'src/jobs/a.ts', `import type Koa from 'koa';`, [1, 'koa is imported in src/api only']],
  ['the router elsewhere', 'src/web.ts', `import Router from '@koa/router';`, [1, '@koa/router is']],
  ['koa-body elsewhere', 'src/store/a.ts', `import body from 'koa-body';`, [1, 'koa-body is']],
  ['Bull Board elsewhere', 'src/jobs/a.ts', `import '@bull-board/api/bullMQAdapter';`, [1, '@bull-board/api is']],
  ['BullMQ at home', 'src/workers/a.ts', `import { Worker } from 'bullmq';`],
  ['BullMQ elsewhere', 'src/api/a.ts', `import type { Queue } from 'bullmq';`, [1, 'src/jobs and src/workers only']],
  ['the sandbox elsewhere', 'src/model/a.ts', `import ivm from 'isolated-vm';`, [1, 'src/transforms only']],
  ['the thread pool elsewhere', 'src/api/a.ts', `import { Piscina } from 'piscina';`, [1, 'src/transforms only']],
  ['OpenTelemetry at home', 'src/tracing/a.ts', `import { trace } from '@opentelemetry/api';`],
  ['OpenTelemetry elsewhere', 'src/jobs/a.ts', `import '@opentelemetry/api';`, [1, 'src/tracing only']],
  ["BullMQ's spans elsewhere", 'src/jobs/a.ts', `import 'bullmq-otel';`, [1, 'src/tracing only']],
  ['tracing above the model', 'src/tracing/a.ts', `import { m } from '../model/m.ts';`, [1, 'model is above tracing']],
  ['ioredis elsewhere', 'src/jobs/a.ts', `import { Redis } from 'ioredis';`, [1, 'src/store only']],
  ['prom-client elsewhere', 'src/jobs/a.ts', `import { Gauge } from 'prom-client';`, [1, 'src/metrics only']],
  ['the environment in config.ts', 'src/config.ts', 'export const env = process.env;'],
  ['the environment elsewhere', 'src/log.ts', '\n\nif (process.env.DEBUG) {}', [3, 'reads process.env']],
  ['the environment taken apart', 'src/log.ts', 'const { env } = process;', [1, 'reads process.env']],
  ['the environment imported', 'src/log.ts', `import { env } from 'node:process';`, [1, 'reads process.env']],
  ['the headers at home', 'src/functions/headers.ts', `const h = '${HEADER}';`],
  ['a header elsewhere', 'src/functions/a.ts', `\nget('${HEADER.toUpperCase()}')`, [2, 'names the headers']],
  ['the start of a header', 'src/api/a.ts', `get(\`${HEADER.slice(0, -3)}\${name}\`)`, [1, 'names the headers']],
];

describe('the check of the import layers', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tidegate-layers-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  for (const [title, file, text, violation] of CASES) {
    it(violation ? `finds ${title}` : `accepts ${title}`, () => {
      write(file, text);
      if (violation) expectOnly(`${file}:${violation[0]}: `, violation[1]);
      else expect(check(root)).to.deep.equal({ status: 0, lines: ['1 files keep to the layers, without circles'] });
    });
  }

  it('finds a circle of files, also of types, also outside src', () => {
    write('clients/typescript/src/a.ts', `import './b.ts';`);
    write('clients/typescript/src/b.ts', `import type { C } from './c.ts';`);
    write('clients/typescript/src/c.ts', `\nexport { a } from './a.ts';`);
    expectOnly('clients/typescript/src/c.ts:2: ', 'src/a.ts → clients/typescript/src/b.ts → ');
  });

  it('finds nothing to say against this repository', () => {
    expect(check(resolve(CHECK, '../..')).lines)
      .to.have.lengthOf(1)
      .and.match(/files keep to the layers/);
  });

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), `${text}\n`);
  }

  function expectOnly(start: string, part: string): void {
    const { status, lines } = check(root);
    expect(status).to.equal(1);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.satisfy((line: string) => line.startsWith(start), `${lines[0]} begins with ${start}`);
    expect(lines[0]).to.include(part);
  }
});

function check(root: string): { status: number | null; lines: string[] } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CHECK, root], { encoding: 'utf8' });
  expect(stderr).to.equal('');
  return { status, lines: stdout.trimEnd().split('\n') };
}
