import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { BUNDLES, bundleService } from '../../scripts/lib/bundle.ts';

const FAILING = `interface Erased {
  why: string;
}
class Unlucky extends Error {
  override name = this.constructor.name;
}
export function fail(erased: Erased): never {
  throw new Unlucky(erased.why);
}
`;

describe('The bundles of npm run build', () => {
  let root: string;
  before(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'tidegate-bundle-')));
    write('package.json', '{ "type": "module" }');
    for (const entry of ['worker', 'release', 'move']) write(`src/${entry}.ts`, 'export {};');
    write('src/web.ts', `import { fail } from './model/failing.ts';\nfail({ why: 'bad luck' });`);
    write('src/model/failing.ts', FAILING);
    write('src/worker.ts', `import { PRESET_FILES } from './providers/preset-files.ts'; console.log(PRESET_FILES);`);
    write('src/providers/preset-files.ts', 'export const PRESET_FILES = [];');
    for (const name of ['a', 'b']) write(`src/providers/presets/${name}.ts`, `export default '${name}';`);
    write('src/move.ts', `import './store/reads.ts';`);
    write('src/store/reads.ts', READING);
    write('src/store/lua/a.lua', 'return 1');
    for (const name of ['child', 'thread', 'program']) write(`src/transforms/sandbox/${name}.ts`, 'export {};');
    write('src/supervisor.ts', 'console.log(import.meta.filename);');
    await bundleService(root, join(root, BUNDLES));
  });
  after(() => rmSync(root, { recursive: true }));

  const READING = `
    import { readFileSync } from 'node:fs';
    import { join } from 'node:path';
    console.log(readFileSync(new URL('./lua/a.lua', import.meta.url), 'utf8'));
    console.log(readFileSync(join(import.meta.dirname, 'lua/a.lua'), 'utf8'), import.meta.filename);`;

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const run = (entry: string) => {
    const { stdout, stderr } = spawnSync(process.execPath, [join(root, BUNDLES, `${entry}.js`)], { encoding: 'utf8' });
    return { stdout, stderr };
  };

  it('name errors, functions, files and lines of the source in stack traces', () => {
    const { stderr } = run('web');
    expect(stderr).to.include(`Unlucky: bad luck\n    at fail (${join(root, 'src/model/failing.ts')}:8:9)\n`);
    expect(stderr).to.include(`${join(root, 'src/web.ts')}:2:1\n`);
  });

  it('read files that are next to the source', () => {
    expect(run('move').stdout).to.equal(`return 1\nreturn 1 ${join(root, 'src/store/reads.ts')}\n`);
  });

  it('contain every preset of the providers', () => {
    expect(run('worker').stdout).to.equal(`[ [ 'a.ts', 'a' ], [ 'b.ts', 'b' ] ]\n`);
  });

  it('are started by their supervisor', () => {
    expect(run('supervisor').stdout).to.equal(`${join(root, BUNDLES, 'supervisor.js')}\n`);
  });
});
