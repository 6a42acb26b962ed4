import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { runInstalled } from '../support/installed-service.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { must } from '../support/program.ts';
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

  it('runs from the node_modules of a project: release, web, worker, a webhook with a transform', async () => {
    const project = release.folder();
    await unpack(project);
    await runInstalled(project, redis.url);
  });

  it('has a bin that says what it takes, and its version', async () => {
    const project = release.folder();
    const program = await unpack(project);
    const said = await must('sh', ['-c', `"${program}" --version; "${program}" nothing || echo "exit code $?"`], {
      cwd: project,
    });
    expect(said).to.match(/^\d+\.\d+\.\d+\n/);
    expect(said).to.include('Usage: tidegate-service <process>').and.to.include('exit code 2');
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
