import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import lock from '../../package-lock.json' with { type: 'json' };
import { trimPackages } from '../../scripts/lib/trim-packages.ts';

interface Package {
  link?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

const NODE_MODULES = 'node_modules/';

/** What `npm ci --omit=dev --omit=optional` installs. */
const installed = Object.entries(lock.packages as Record<string, Package>)
  .filter(([path, { link, dev, devOptional, optional }]) => {
    return path.includes(NODE_MODULES) && !link && !dev && !devOptional && !optional;
  })
  .map(([path]) => path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length));

describe('An installation for production', () => {
  it('has no compiler, no code of the dashboard and no test tools', () => {
    expect(installed).to.include.members(['koa', 'bullmq', 'isolated-vm']);
    const needless = /^(typescript|react|react-dom|vite|mocha|@biomejs\/.*|@types\/react|inngest|node)$/;
    expect(installed.filter((name) => needless.test(name))).to.deep.equal([]);
  });

  it('exports traces only by OTLP over HTTP', () => {
    const exporters = installed.filter((name) => /^@opentelemetry\/(exporter|propagator)|^@grpc\//.test(name));
    expect(exporters).to.deep.equal(['@opentelemetry/exporter-trace-otlp-proto']);
  });

  it('has only one copy of the OpenTelemetry SDK', () => {
    const parts = installed.filter((name) => /^@opentelemetry\/(core|resources|sdk-trace.*)$/.test(name));
    expect(parts)
      .to.include('@opentelemetry/sdk-trace-node')
      .and.to.deep.equal([...new Set(parts)]);
  });
});

describe('npm run trim', () => {
  const KEPT = ['a/index.js', 'a/LICENSE', 'a/native.ts/index.js', '@scope/b/prebuilds/linux-x64/b.node'];
  const REMOVED = [
    'a/index.js.map',
    'a/index.d.ts',
    'a/src/index.ts',
    'a/a-1.0.0.tgz',
    '@scope/b/prebuilds/linux-arm64/b.node',
    '@scope/b/prebuilds/win32-x64/b.node',
  ];
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-trim-'));
    for (const file of ['own/index.ts', ...[...KEPT, ...REMOVED].map((path) => join('node_modules', path))]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), 'x');
    }
    symlinkSync('../own', join(folder, 'node_modules/own'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const modules = () => join(folder, 'node_modules');
  const trim = () => trimPackages(modules(), { platform: 'linux', arch: 'x64' });
  const left = (files: string[]) => files.filter((file) => existsSync(join(modules(), file)));

  it('removes source maps, types and binaries for other platforms from packages, and nothing from workspaces', () => {
    expect(trim()).to.equal(REMOVED.length);
    expect(left(REMOVED)).to.deep.equal([]);
    expect(left([...KEPT, 'own/index.ts'])).to.deep.equal([...KEPT, 'own/index.ts']);
  });

  it('does not change an installation for development', () => {
    mkdirSync(join(modules(), 'node'));
    expect(trim()).to.equal(undefined);
    expect(left(REMOVED)).to.deep.equal(REMOVED);
  });
});
