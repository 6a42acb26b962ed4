import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8');

describe('docs/dependencies.md', () => {
  const [, production = '', development = '', dashboard = '', commandLine = '', own = '', clients = ''] =
    read('docs/dependencies.md').split(/^## .*$/m);
  /** A row names one package, or several that have the same reason. */
  const named = (section: string) =>
    [...section.matchAll(/^\| (`[^|]+`) \| \S.*\|$/gm)]
      .flatMap(([, names = '']) => names.split(', '))
      .map((name) => name.slice(1, -1))
      .sort();
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const { devDependencies: ofTests } = JSON.parse(read('test/package.json'));
  const { devDependencies: bundled } = JSON.parse(read('dashboard/package.json'));

  const ofCli = JSON.parse(read('cli/package.json'));

  it('lists every production dependency, and no other', () => {
    expect(named(production)).to.deep.equal(Object.keys(dependencies).sort());
  });

  it('lists every development dependency, and no other', () => {
    expect(named(development)).to.deep.equal(Object.keys({ ...devDependencies, ...ofTests }).sort());
  });

  it('lists every dashboard dependency, and no other', () => {
    expect(named(dashboard)).to.deep.equal(Object.keys(bundled).sort());
  });

  it('lists every dependency of the command line, and no other', () => {
    const all = { ...ofCli.dependencies, ...ofCli.devDependencies };
    expect(named(commandLine)).to.deep.equal(Object.keys(all).sort());
  });

  it('lists every dependency of the clients in Python and Go, and no other', () => {
    const [, extras = ''] = /optional-dependencies\]\n([\s\S]*?)\n\[/.exec(read('clients/python/pyproject.toml')) ?? [];
    const python = [...extras.matchAll(/\["([\w-]+)/g)].map(([, name]) => name);
    const go = [...read('clients/go/go.mod').matchAll(/^(?:require )?\s*(github\.com\S+) v/gm)].map(([, name]) => name);
    expect(named(clients)).to.deep.equal([...python, ...go].sort());
  });

  it('lists own modules that exist', () => {
    expect(named(own)).not.to.be.empty;
    for (const path of named(own)) expect(existsSync(resolve(ROOT, path as string)), path).to.equal(true);
  });
});
