import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CATALOGUE } from '../src/errors.ts';
import { SETTINGS } from '../src/settings.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

describe('the documents', () => {
  it('docs/errors.md lists every error with its status and message, and no other', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d{3}) \| ([^|]+) \|/gm)];
    const documented = Object.fromEntries(rows.map(([, code, status, message]) => [code, [Number(status), message]]));
    expect(documented).to.deep.equal(CATALOGUE);
  });

  it('the README lists every setting with its meaning, and no other', () => {
    const rows = [...read('README.md').matchAll(/^\| `([A-Z_]+)` \|[^|]*\| ([^|]+) \|$/gm)];
    const documented = Object.fromEntries(rows.map(([, name, meaning]) => [name, meaning]));
    const described = Object.fromEntries(Object.entries(SETTINGS).map(([name, schema]) => [name, schema.description]));
    expect(documented).to.deep.equal(described);
  });
});
