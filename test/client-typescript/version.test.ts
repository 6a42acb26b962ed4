import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { VERSION } from '../../clients/typescript/src/version.ts';

describe('The TypeScript package', () => {
  it('names itself on the wire by the version it is published under', async () => {
    const file = new URL('../../clients/typescript/package.json', import.meta.url);
    expect(JSON.parse(await readFile(file, 'utf8'))).to.include({ name: 'tidegate', version: VERSION });
  });

  it('depends on nothing', async () => {
    const file = new URL('../../clients/typescript/package.json', import.meta.url);
    expect(JSON.parse(await readFile(file, 'utf8'))).not.to.have.any.keys('dependencies', 'peerDependencies');
  });
});
