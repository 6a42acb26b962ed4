import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runInstalled } from '../support/installed-service.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { must } from '../support/program.ts';
import { makeRelease } from '../support/release.ts';

/** Only with `scripts/test --all`: downloads 300 packages. */
describe('The package of the service, installed by npm', function () {
  this.timeout(600_000);

  it('has what production needs and no more, and runs', async () => {
    const release = await makeRelease('service');
    const redis = await startOwnRedis();
    try {
      const project = release.folder();
      writeFileSync(join(project, 'package.json'), '{ "private": true }');
      const npm = ['install', '--no-audit', '--no-fund', '--omit=dev', '--omit=optional', release.file('.tgz')];
      await must('npm', npm, { cwd: project });
      const kilobytes = Number.parseInt(await must('du', ['-sk', 'node_modules'], { cwd: project }), 10);
      expect(kilobytes).to.be.lessThan(150_000);
      await runInstalled(project, redis.url);
    } finally {
      await redis.remove();
      release.remove();
    }
  });
});
