import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { VERSION } from '../src/version.ts';

describe('The TypeScript package', () => {
  it('names itself on the wire by the version it is published under', async () => {
    const file = new URL('../package.json', import.meta.url);
    expect(JSON.parse(await readFile(file, 'utf8'))).to.include({ name: 'tidegate', version: VERSION });
  });

  it('depends on nothing', async () => {
    const file = new URL('../package.json', import.meta.url);
    expect(JSON.parse(await readFile(file, 'utf8'))).not.to.have.any.keys('dependencies', 'peerDependencies');
  });
});
