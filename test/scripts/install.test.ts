import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
/** Plays npm: says what it was called with; Node is what it installs, and the tests' workspace if no others are named. Fails where a file says so. */
const NPM = `#!/bin/sh
echo "$@" >&2
[ "$1" = install ] || rm -rf node_modules
mkdir -p node_modules/.bin
ln -sf "$NODE" node_modules/.bin/node
[ ! -e broken ] || exit 1
case "$*" in *-w*) ;; *) ln -sfn ../test node_modules/tidegate-tests ;; esac
touch node_modules/.package-lock.json
`;

describe('scripts/lib/install.sh', () => {
  let clone: string;
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'tidegate-install-'));
    cpSync(join(ROOT, 'scripts/lib/install.sh'), join(clone, 'install.sh'));
    mkdirSync(join(clone, 'bin'));
    writeFileSync(join(clone, 'bin/npm'), NPM);
    chmodSync(join(clone, 'bin/npm'), 0o755);
    symlinkSync(process.execPath, join(clone, 'bin/node'));
    lock('1');
  });
  afterEach(() => rmSync(clone, { recursive: true }));

  const lock = (content: string) => writeFileSync(join(clone, 'package-lock.json'), content);
  /** @returns the arguments of npm; undefined: it was not called */
  function install(wanted: 'service' | 'all'): string | undefined {
    const { stderr } = spawnSync('bash', ['--norc', '-euc', `source ./install.sh ${wanted}`], {
      cwd: clone,
      encoding: 'utf8',
      env: { NODE: process.execPath, PATH: `${join(clone, 'bin')}:/usr/bin:/bin` },
    });
    return /^(?:ci|install) .*$/m.exec(stderr)?.[0];
  }

  it('installs the service without the packages of the tests, and adds those on request', () => {
    expect(install('service')).to.match(/^ci --include-workspace-root -w dashboard .* --include=dev/);
    expect(existsSync(join(clone, 'node_modules/tidegate-tests'))).to.equal(false);
    expect(install('service')).to.equal(undefined);
    expect(install('all')).to.match(/^install --no-save --include=dev/);
    expect(install('all')).to.equal(undefined);
  });

  it('keeps the packages of the tests, even for the service, and replaces what a new lock file changes', () => {
    expect(install('all')).to.match(/^ci --include=dev/);
    expect(install('service')).to.equal(undefined);
    lock('2');
    expect(install('service')).to.match(/^install --no-save --include=dev/);
    expect(install('all')).to.equal(undefined);
  });

  it('completes an installation that was interrupted', () => {
    install('service');
    writeFileSync(join(clone, 'broken'), '');
    expect(install('all')).to.match(/^install /);
    rmSync(join(clone, 'broken'));
    expect(install('all')).to.match(/^ci /);
    expect(install('all')).to.equal(undefined);
  });
});
