import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { VERSION } from '../src/version.ts';

describe('The TypeScript package', () => {
  it('sends its published version', async () => {
    const file = new URL('../package.json', import.meta.url);
    expect(JSON.parse(await readFile(file, 'utf8'))).to.include({ name: 'tidegate', version: VERSION });
  });

  it('has no dependencies', async () => {
    const file = new URL('../package.json', import.meta.url);
    expect(JSON.parse(await readFile(file, 'utf8'))).not.to.have.any.keys('dependencies', 'peerDependencies');
  });
});
