import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { buildDashboard, isDashboardStale } from '../../scripts/lib/dashboard.ts';
import { Problem } from '../../scripts/lib/problem.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('The build of the dashboard', () => {
  let clone: string;
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'tidegate-build-'));
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    write('package-lock.json', '{}');
    write('src/model/runs/run.ts', 'export const STATUSES = [1];');
    write('dashboard/package.json', '{ "type": "module" }');
    write('dashboard/vite.config.ts', 'export default { root: import.meta.dirname };');
    write('dashboard/index.html', '<script type="module" src="/src/main.ts"></script>');
    write('dashboard/src/main.ts', 'console.log("first");');
    write('dashboard/src/old.ts', 'export {};');
  });
  afterEach(() => {
    const left = readdirSync(join(clone, 'dashboard')).filter((name) => name.startsWith('.dist-'));
    rmSync(clone, { recursive: true });
    expect(left).to.deep.equal([]);
  });

  it('is stale when it is missing, and when one of its sources is changed, added or removed', async () => {
    expect(isDashboardStale(clone)).to.equal(true);
    await buildDashboard(clone);
    expect(isDashboardStale(clone)).to.equal(false);
    const changes = [
      () => write('dashboard/src/main.ts', 'console.log("second");'),
      () => write('dashboard/src/new.ts', 'export {};'),
      () => rmSync(join(clone, 'dashboard/src/old.ts')),
      () => write('src/model/runs/run.ts', 'export const STATUSES = [2];'),
      () => write('package-lock.json', '{ }'),
    ];
    for (const change of changes) {
      makeOld();
      expect(isDashboardStale(clone)).to.equal(false);
      change();
      expect(isDashboardStale(clone), String(change)).to.equal(true);
    }
  });

  it('is not required if its sources are missing', () => {
    rmSync(join(clone, 'dashboard/vite.config.ts'));
    expect(isDashboardStale(clone)).to.equal(false);
  });

  it('keeps the existing build when it fails, and says why', async () => {
    await buildDashboard(clone);
    const before = built();
    write('dashboard/src/main.ts', 'import "./nowhere.ts";');
    const error = await buildDashboard(clone).catch((problem: Error) => problem);
    expect(error).to.be.instanceOf(Problem);
    expect((error as Problem).message).to.include('nowhere.ts');
    expect(built()).to.equal(before);
  });

  it('is complete when two processes build it at the same time', async () => {
    await Promise.all([buildDashboard(clone), buildDashboard(clone)]);
    expect(built()).to.include('/assets/');
  });

  function built(): string {
    return readFileSync(join(clone, 'dashboard/dist/index.html'), 'utf8');
  }

  /** As if everything had been there for an hour, and the build for half of it. */
  function makeOld(): void {
    const [hourAgo, halfAgo] = [3_600_000, 1_800_000].map((ms) => new Date(Date.now() - ms)) as [Date, Date];
    for (const folder of ['dashboard', 'src']) {
      for (const path of ['.', ...readdirSync(join(clone, folder), { recursive: true, encoding: 'utf8' })]) {
        utimesSync(join(clone, folder, path), hourAgo, hourAgo);
      }
    }
    utimesSync(join(clone, 'package-lock.json'), hourAgo, hourAgo);
    utimesSync(join(clone, 'dashboard/dist/index.html'), halfAgo, halfAgo);
  }

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
});
