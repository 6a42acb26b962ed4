import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { must, run } from '../support/program.ts';
import { cloneTree } from '../support/release.ts';

const IDENTITY = { GIT_CONFIG_COUNT: '2', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'test' };
const WHO = { ...IDENTITY, GIT_CONFIG_KEY_1: 'user.email', GIT_CONFIG_VALUE_1: 'test@example.com' };
const TAGS = ['clients/go/v98.7.6', 'clients/typescript/v98.7.6', 'v98.7.6'];

describe('scripts/release in a clone', function () {
  this.timeout(600_000);
  let clone: Awaited<ReturnType<typeof cloneTree>>;
  before(async () => {
    clone = await cloneTree();
  });
  after(() => clone?.remove());

  const release = (...args: string[]) =>
    run(process.execPath, ['scripts/release.ts', ...args], { cwd: clone.root, env: WHO });
  const git = (...args: string[]) => must('git', args, { cwd: clone.root, env: WHO });

  it('cannot be installed by npm as a package: `prepare` says where the client is', async () => {
    const prepare = (env: Record<string, string>) => run('npm', ['run', 'prepare'], { cwd: clone.root, env });
    expect((await prepare({})).exitCode).to.equal(0);
    // npm has this variable where it prepares a repository for a project that depends on it.
    const { exitCode, output } = await prepare({ _PACOTE_NO_PREPARE_: 'git+file://tidegate' });
    expect(exitCode).to.equal(1);
    expect(output).to.include('clients/typescript/v<version>');
  });

  it('rejects uncommitted changes, and names them', async () => {
    const added = join(clone.root, 'added.txt');
    writeFileSync(added, '');
    const { exitCode, output } = await release('--only', 'client');
    expect(exitCode).to.equal(1);
    expect(output).to.include('These files are changed').and.to.include('?? added.txt');
    await git('clean', '--quiet', '--force', 'added.txt');
  });

  it('sets a version and makes packages and tags of the commit, and npm installs the client from the repository', async () => {
    expect((await release('--version', '98.7.6')).output).to.include('The version is 98.7.6');
    await git('commit', '--quiet', '--all', '--message', 'Version 98.7.6');

    const { exitCode, output } = await release('--only', 'client', '--tag');
    expect(exitCode, output).to.equal(0);
    const made = join(clone.root, 'dist/release');
    expect(readdirSync(made)).to.deep.equal(['CHECKSUMS.txt', 'RELEASE_NOTES.md', 'tidegate-98.7.6.tgz']);
    await must('sha256sum', ['--check', 'CHECKSUMS.txt'], { cwd: made });
    expect(readFileSync(join(made, 'RELEASE_NOTES.md'), 'utf8')).to.match(/^# Tidegate 98\.7\.6 — \d{4}-\d\d-\d\d\n/);
    expect((await git('tag', '--list')).trim().split('\n')).to.deep.equal(TAGS);
    expect((await release('--only', 'client', '--tag')).output).to.include('The Git tag clients/go/v98.7.6 exists');

    const project = join(clone.root, '.data/project');
    await must('mkdir', ['-p', project], { cwd: clone.root });
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    const address = `git+file://${clone.root}#clients/typescript/v98.7.6`;
    await must('npm', ['install', '--no-audit', '--no-fund', '--offline', address], { cwd: project });
    expect(existsSync(join(project, 'node_modules/tidegate-service'))).to.equal(false);
    const said = await must(process.execPath, ['-p', "Object.keys(require('tidegate')).includes('Tidegate')"], {
      cwd: project,
    });
    expect(said.trim()).to.equal('true');
    expect(await must('npx', ['tidegate', '--version'], { cwd: project })).to.include('98.7.6');
  });
});
