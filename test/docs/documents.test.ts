import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { GENERATED } from '../../scripts/docs.ts';
import { CATALOGUE } from '../../src/errors.ts';
import { createProcessMetrics } from '../../src/metrics/process-metrics.ts';
import { DEFAULT_RETRIES, retryDelayMs } from '../../src/model/runs/retry.ts';
import { FAILURES } from '../../src/providers/verification/verification.ts';
import { SETTINGS } from '../../src/settings/settings.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the documents', () => {
  it('docs/errors.md lists every error with its status and message, and no other', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d{3}) \| ([^|]+) \|/gm)];
    const documented = Object.fromEntries(rows.map(([, code, status, message]) => [code, [Number(status), message]]));
    expect(documented).to.deep.equal(CATALOGUE);
  });

  it('docs/metrics.md lists every metric with its type and labels, and which process has it, and no other', () => {
    const rows = [...read('docs/metrics.md').matchAll(/^\| `(tidegate_\w+)` \| (\w+) \|([ `\w]*)\| (\w+) \| \S/gm)];
    for (const role of ['web', 'worker'] as const) {
      const mine = rows.filter(([, , , , from]) => from === role || from === 'both' || from === 'Redis');
      const documented = mine.map(([, name, type, labels = '']) => `${name} ${type} ${labels.match(/\w+/g) ?? ''}`);
      const all = createProcessMetrics(role).catalog();
      const own = all.filter(({ name }) => !/^(process|nodejs)_/.test(name));
      expect(documented, role).to.have.members(own.map(({ name, type, labels }) => `${name} ${type} ${labels}`));
    }
  });

  it('docs/settings.md lists every setting with its meaning, and no other', () => {
    const rows = [...read('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \|[^|]*\| ([^|]+) \|$/gm)];
    const documented = Object.fromEntries(rows.map(([, name, meaning]) => [name, meaning]));
    const described = Object.fromEntries(Object.entries(SETTINGS).map(([name, schema]) => [name, schema.description]));
    expect(documented).to.deep.equal(described);
  });

  it('docs/providers.md lists every reason why a request is not verified, and no other', () => {
    const [, table = ''] = /\| reason \|.*\n\|---.*\n((?:\|.*\n)*)/.exec(read('docs/providers.md')) ?? [];
    const listed = table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
    expect(listed.map(([, reason]) => reason)).to.have.members([...FAILURES]);
  });

  it('README.md and docs/functions.md give the times at which a failed attempt is repeated', () => {
    const seconds = (attempts: number, random: number) => retryDelayMs(attempts, random, 1) / 1_000;
    const texts = [1, 2, 3, 4].map((attempts) => {
      const delay = seconds(attempts, 0);
      return delay < 60 ? `${delay} s` : `${delay / 60} min`;
    });
    const jitter = `each plus up to ${seconds(1, 1) - seconds(1, 0)} s of jitter`;
    const readme = `retry: ${DEFAULT_RETRIES} times by default, after ${texts.slice(0, 3).join(', ')} and ${texts[3]}, ${jitter}`;
    expect(read('README.md')).to.include(readme);
    expect(read('docs/functions.md'))
      .to.include(`retries after ${texts.join(', ')},`)
      .and.include(jitter);
  });

  it('CONTRIBUTING.md names files and folders that exist', () => {
    const paths = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|scripts|chaos|clients)\/[\w./-]+)`/g)];
    expect(paths).not.to.be.empty;
    for (const [, path] of paths) expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).to.equal(true);
  });

  it('test/README.md lists every folder of test/ once, by name', () => {
    const table = read('test/README.md').split('## Find a test')[1]?.split('## ')[0] ?? '';
    const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)\/`/g)].map(([, folder]) => folder));
    const entries = readdirSync(new URL('../', import.meta.url), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() && /^(?!node_modules$)[a-z]/.test(entry.name));
    expect(listed).to.have.members(folders.map(({ name }) => name));
    expect(cells).to.deep.equal(cells.toSorted());
  });

  for (const [file, render] of Object.entries(GENERATED)) {
    it(`${file} is up to date with what scripts/docs.ts generates from the code`, () => {
      expect(read(file)).to.equal(render());
    });
  }
});
