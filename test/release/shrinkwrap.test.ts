import { expect } from 'chai';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { type Shrinkwrap, sbom } from '../../scripts/lib/release/sbom.ts';
import { type Lock, shrinkwrap } from '../../scripts/lib/release/shrinkwrap.ts';

const made = shrinkwrap(lock as Lock, manifest) as Shrinkwrap;
const paths = Object.keys(made.packages);

describe('The versions that the released service installs', () => {
  it('match package-lock.json', () => {
    expect(paths).to.include.members(['', ...Object.keys(manifest.dependencies).map((name) => `node_modules/${name}`)]);
    const locked = lock.packages as Record<string, { version?: string }>;
    for (const path of paths.slice(1)) expect(made.packages[path]?.version, path).to.equal(locked[path]?.version);
  });

  it('include no development dependencies', () => {
    const needless = /^node_modules\/(typescript|react|vite|mocha|inngest|node|tidegate.*|@biomejs\/.*)$/;
    expect(paths.filter((path) => needless.test(path))).to.deep.equal([]);
  });

  it('are listed in its SBOM, once each, with license and checksum', () => {
    const bom = JSON.parse(JSON.stringify(sbom(made, '1700000000')));
    expect(bom).to.deep.include({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(bom.serialNumber).to.match(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(bom.metadata.timestamp).to.equal('2023-11-14T22:13:20.000Z');
    const koa = bom.components.find(({ name }: { name: string }) => name === 'koa');
    expect(koa.purl).to.equal(`pkg:npm/koa@${koa.version}`);
    expect(koa.licenses).to.deep.equal([{ license: { id: 'MIT' } }]);
    expect(koa.hashes).to.have.lengthOf(1);
    expect(koa.hashes[0].content).to.match(/^[0-9a-f]{128}$/);
    const refs = bom.components.map((component: Record<string, string>) => component['bom-ref']);
    expect(new Set(refs).size).to.equal(refs.length);
    expect(refs.filter((ref: string) => ref.includes('undefined'))).to.deep.equal([]);
  });
});
