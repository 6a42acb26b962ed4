import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { runInstalled } from '../support/installed-service.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { must, run } from '../support/program.ts';
import { type MadeRelease, makeRelease } from '../support/release.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGE = 'tidegate-service';

describe('The package of the service', function () {
  this.timeout(600_000);
  let release: MadeRelease;
  let redis: OwnRedis;
  before(async () => {
    release = await makeRelease('service');
    redis = await startOwnRedis();
  });
  after(async () => {
    await redis?.remove();
    release?.remove();
  });

  it('runs release, web, worker and a webhook with a transform from the node_modules of a project', async () => {
    const project = release.folder();
    await unpack(project);
    await runInstalled(project, redis.url);
  });

  it('has a bin that shows its usage and version', async () => {
    const project = release.folder();
    const program = await unpack(project);
    const said = await must('sh', ['-c', `"${program}" --version; "${program}" nothing || echo "exit code $?"`], {
      cwd: project,
    });
    expect(said).to.match(/^\d+\.\d+\.\d+\n/);
    expect(said).to.include('Usage: tidegate-service <process>').and.to.include('exit code 2');
  });

  it('says in one line that it needs Node 24 before npm compiles anything, and installs on Node 24', async () => {
    const program = await unpack(release.folder());
    const folder = resolve(program, '../../tidegate-service');
    const { name, version, scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    // Without its packages, which a machine without network cannot install.
    const project = release.folder();
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name, version, scripts }));
    cpSync(join(folder, 'scripts'), join(project, 'scripts'), { recursive: true });
    const install = (nodeVersion: string) => {
      const versions = `Object.defineProperties(process, { version: { value: 'v${nodeVersion}' }, versions: { value: { node: '${nodeVersion}' } } })`;
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(versions)}` };
      return run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: project, env });
    };
    const old = await install('20.20.2');
    expect(old.exitCode).not.to.equal(0);
    expect(old.output.match(/needs Node 24/g)).to.have.lengthOf(1);
    expect(old.output).to.match(/tidegate-service needs Node 24 or newer; found v20\.20\.2\. Install it from https:/);
    for (const enough of ['24.0.0', '26.1.0']) expect((await install(enough)).exitCode, enough).to.equal(0);
  });

  /** As npm would, with links to the packages of this tree. @returns its bin */
  async function unpack(project: string): Promise<string> {
    const modules = join(project, 'node_modules');
    mkdirSync(join(modules, PACKAGE), { recursive: true });
    const tar = ['-xzf', release.file('.tgz'), '--strip-components=1', '-C', join(modules, PACKAGE)];
    await must('tar', tar, { cwd: project });
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name !== PACKAGE && name !== '.bin') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    }
    mkdirSync(join(modules, '.bin'));
    const program = join(modules, '.bin', PACKAGE);
    symlinkSync(`../${PACKAGE}/scripts/${PACKAGE}`, program);
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    return program;
  }
});
