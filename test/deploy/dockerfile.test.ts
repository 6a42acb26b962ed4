import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { filesOfContext, readStages } from '../support/dockerfile.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('The Dockerfile', () => {
  const stages = readStages(join(ROOT, 'Dockerfile'));
  const { engines, workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
    workspaces: string[];
  };

  it('uses the version of Node that package.json names', () => {
    const version = /^ARG NODE_VERSION=(\d+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1];
    expect(`${version}.x`).to.equal(engines.node);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the Dockerfile
    expect(new Set(stages.map(({ base }) => base))).to.deep.equal(new Set(['node:${NODE_VERSION}-slim', 'source']));
  });

  it('builds from the sources of the service and the pages that it serves, without tests and editor files', () => {
    const files = filesOfContext(ROOT);
    expect(files).to.include.members([
      'package-lock.json',
      'src/web.ts',
      'scripts/start',
      'dashboard/index.html',
      'deploy/health.js',
    ]);
    // npm ci needs all that the lock file names.
    expect(files).to.include.members(workspaces.map((workspace) => `${workspace}/package.json`));
    expect(files).to.include.members(['docs/llms.txt', 'docs/events.md']);
    const needless = files.filter((file) => /(^|\/)(test|\.git[^/]*|\.env)(\/|$)|^docs\/.*\//.test(file));
    expect(needless).to.deep.equal(['test/package.json']);
  });
});
