import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type ClientTestBed, startClientTestBed } from '../support/client-test-bed.ts';
import { must, run } from '../support/program.ts';
import { installPython } from '../support/python.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENT = join(ROOT, 'clients/python');
const PROGRAMS = [join(ROOT, 'test/python'), join(ROOT, 'examples/python')];
const DATA = join(ROOT, '.data');

/** Leaves nothing in the client's folder. */
const CACHES = { PYTHONDONTWRITEBYTECODE: '1', MYPY_CACHE_DIR: join(DATA, 'mypy'), RUFF_NO_CACHE: 'true' };

describe('The Python client', function () {
  // The first run installs the tools.
  this.timeout(600_000);
  let bin: string;
  let dir: string;
  before(async () => {
    bin = await installPython('python-client', join(CLIENT, 'requirements-dev.txt'));
    dir = mkdtempSync(join(tmpdir(), 'tidegate-python-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const tool = (name: string, ...args: string[]) => must(join(bin, name), args, { cwd: CLIENT, env: CACHES });

  describe('with real services', () => {
    let services: ClientTestBed;
    before(async () => {
      services = await startClientTestBed();
    });
    after(() => services?.stop());

    it('passes its own tests, and skips none', async () => {
      const report = join(dir, 'report.xml');
      const { exitCode, output } = await run(
        join(bin, 'python'),
        ['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', `--junitxml=${report}`],
        { cwd: CLIENT, env: { ...services.env, ...CACHES } },
      );
      expect(exitCode, output).to.equal(0);
      const suite = readFileSync(report, 'utf8');
      expect(Number(/ skipped="(\d+)"/.exec(suite)?.[1]), output).to.equal(0);
      expect(Number(/ tests="(\d+)"/.exec(suite)?.[1])).to.be.greaterThan(0);
    });
  });

  it('passes mypy --strict', () => tool('mypy', '--strict'));

  it('passes pyright', () =>
    must(join(ROOT, 'node_modules/.bin/pyright'), ['--pythonpath', join(bin, 'python')], { cwd: CLIENT }));

  // Includes the programs of tests and examples.
  const lint = (...command: string[]) => tool('ruff', ...command, '--config', 'pyproject.toml', '.', ...PROGRAMS);

  it('passes ruff check', () => lint('check'));

  it('is formatted by ruff', () => lint('format', '--check'));

  it('builds a package that installs and imports', async () => {
    const dist = join(dir, 'dist');
    await tool('python', '-m', 'build', '--no-isolation', '--outdir', dist);
    const [wheel = '', sdist] = readdirSync(dist).sort();
    expect([wheel, sdist]).to.deep.equal(['tidegate-0.1.0-py3-none-any.whl', 'tidegate-0.1.0.tar.gz']);

    const target = join(dir, 'installed');
    await tool('python', '-m', 'pip', 'install', '--quiet', '--no-index', '--target', target, join(dist, wheel));
    expect(readdirSync(join(target, 'tidegate'))).to.include('py.typed');
    const env = { ...CACHES, PYTHONPATH: target };
    const code = 'import tidegate, tidegate.testing; print(tidegate.__version__, tidegate.__file__)';
    const said = await must(join(bin, 'python'), ['-c', code], { cwd: dir, env });
    expect(said.trim()).to.equal(`0.1.0 ${join(target, 'tidegate/__init__.py')}`);
  });

  it('installs from the repository, as its README says', async () => {
    const command = /"(tidegate @ git\+)https:\/\/[^#"]+(#subdirectory=[^"]+)"/;
    const [, name, folder] = command.exec(readFileSync(join(CLIENT, 'README.md'), 'utf8')) ?? [];
    const target = join(dir, 'from-repository');
    const offline = ['--no-deps', '--no-build-isolation', '--no-index'];
    const source = `${name}file://localhost${ROOT}${folder}`;
    await tool('python', '-m', 'pip', 'install', '--quiet', ...offline, '--target', target, source);
    expect(readdirSync(target).sort()).to.deep.equal(['tidegate', 'tidegate-0.1.0.dist-info']);
  });
});
