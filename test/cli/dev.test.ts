import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { bundleCli } from '../../cli/bundle.ts';
import { cli, cliOk, startCli } from '../support/cli.ts';

const SERVICE_BIN = resolve(import.meta.dirname, '../../scripts/lib/release/service/tidegate-service');

/** Plays the program of the service: says its arguments, and goes on until a signal. */
const STAND_IN = `#!/bin/sh
trap 'echo ended; exit 9' INT TERM
echo "got $*"
[ "$1" = dev ] || exit 4
while true; do sleep 0.1; done
`;

describe('tidegate dev and start', () => {
  let folder: string;
  let program: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-start-'));
    program = join(folder, 'tidegate/cli.js');
    mkdirSync(dirname(program));
    await bundleCli(dirname(program));
  });
  after(() => rmSync(folder, { recursive: true }));

  function install(): string {
    const service = join(folder, 'app/node_modules/tidegate-service');
    mkdirSync(service, { recursive: true });
    writeFileSync(
      join(service, 'package.json'),
      '{"name": "tidegate-service", "bin": {"tidegate-service": "start.sh"}}',
    );
    writeFileSync(join(service, 'start.sh'), STAND_IN);
    chmodSync(join(service, 'start.sh'), 0o755);
    return join(folder, 'app');
  }

  it('run the scripts of the repository, with their options', async () => {
    expect((await cliOk(['dev', '--help'])).stdout).to.match(/^scripts\/dev \[--archive\]/);
    const { exitCode, stderr } = await cli(['start', 'nothing']);
    expect([exitCode, stderr]).to.deep.equal([2, 'Usage: scripts/start web|worker|release|move\n']);
  });

  it('run the package tidegate-service outside the repository, and exit with its code', async () => {
    const cwd = install();
    const started = await cli(['start', 'web', '--port', '1'], { program, cwd });
    expect([started.exitCode, started.stdout]).to.deep.equal([4, 'got web --port 1\n']);
    const dev = startCli(['dev', '--no-example'], { program, cwd });
    await dev.prints('got dev --no-example');
    expect(await dev.interrupt()).to.equal(9);
    expect(dev.stdout()).to.include('ended');
  });

  it('say which Node the service needs when they run the package', () => {
    const bin = join(folder, 'old-node');
    mkdirSync(bin);
    writeFileSync(join(bin, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2 || echo false\n');
    chmodSync(join(bin, 'node'), 0o755);
    const { status, stderr } = spawnSync(SERVICE_BIN, ['dev'], { env: { PATH: `${bin}:/usr/bin:/bin` } });
    expect([status, String(stderr)]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 1 && text.startsWith('The service needs Node 24 or newer; found Node v20.20.2.'),
    );
  });

  it('say how to install the service if it is missing', async () => {
    const { exitCode, stderr } = await cli(['dev'], { program, cwd: folder });
    expect(exitCode).to.equal(2);
    expect(stderr)
      .to.include('no package tidegate-service')
      .and.include('Install tidegate-service of the same release');
  });
});
