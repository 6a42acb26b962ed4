import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { bundleCli } from '../../cli/bundle.ts';
import { cli, cliOk, MAIN } from '../support/cli.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('the bundled command line', () => {
  let folder: string;
  let program: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-bundle-'));
    program = join(folder, 'cli.js');
    await bundleCli(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('imports only modules of Node', () => {
    const imported = [...readFileSync(program, 'utf8').matchAll(/^import .*?from "(.*)";$/gm)].map(
      ([, name]) => name as string,
    );
    expect(imported).not.to.be.empty;
    for (const name of imported) expect(builtinModules).to.include(name.replace(/^node:/, ''));
  });

  it('works the same outside the repository', async () => {
    const [bundled, inTree] = await Promise.all(
      [{ program, cwd: folder }, { program: MAIN }].map((options) => cliOk(['--help'], options)),
    );
    expect(bundled?.stdout).to.include('send').and.equal(inTree?.stdout);
    expect((await cli(['sned'], { program })).exitCode).to.equal(2);
  });

  it('includes the licenses of its parts', () => {
    expect(readFileSync(join(folder, 'cli-licenses.txt'), 'utf8')).to.match(/^cli\.js contains commander:$/m);
  });

  it('needs no feature of the language that Node 20 lacks', () => {
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, 'cli'), '--noEmit'], { stdio: 'pipe' });
  });
});
