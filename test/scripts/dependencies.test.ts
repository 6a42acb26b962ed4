import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8');

describe('docs/dependencies.md', () => {
  const [, production = '', development = '', own = ''] = read('docs/dependencies.md').split(/^## .*$/m);
  const named = (section: string) => [...section.matchAll(/^\| `([^`]+)` \| \S.*\|$/gm)].map(([, name]) => name);
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));

  it('gives each dependency in production a reason, and names no other', () => {
    expect(named(production)).to.deep.equal(Object.keys(dependencies).sort());
  });

  it('gives each dependency in development a reason, and names no other', () => {
    expect(named(development)).to.deep.equal(Object.keys(devDependencies).sort());
  });

  it('names parts of our own that are there', () => {
    expect(named(own)).not.to.be.empty;
    for (const path of named(own)) expect(existsSync(resolve(ROOT, path as string)), path).to.equal(true);
  });
});
