import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CATALOGUE } from '../../src/errors.ts';
import { createProcessMetrics } from '../../src/metrics/process-metrics.ts';
import { SETTINGS } from '../../src/settings.ts';

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

  it('the README lists every setting with its meaning, and no other', () => {
    const rows = [...read('README.md').matchAll(/^\| `([A-Z_]+)` \|[^|]*\| ([^|]+) \|$/gm)];
    const documented = Object.fromEntries(rows.map(([, name, meaning]) => [name, meaning]));
    const described = Object.fromEntries(Object.entries(SETTINGS).map(([name, schema]) => [name, schema.description]));
    expect(documented).to.deep.equal(described);
  });
});
