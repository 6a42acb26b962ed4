/** What an npm package has in its bundles or installs, as CycloneDX 1.6, from its lock. `npm sbom` would refuse optional peers of other versions, which npm installs.
 *  The other packages install nothing. */
import { createHash } from 'node:crypto';

interface Locked {
  version?: string;
  license?: string;
  integrity?: string;
}

export interface Shrinkwrap {
  name: string;
  version: string;
  lockfileVersion: number;
  requires: boolean;
  packages: Record<string, Locked>;
}

const NODE_MODULES = 'node_modules/';
const ALGORITHMS: Record<string, string> = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };

/** @param epoch in Unix seconds */
export function sbom({ name, version, packages }: Shrinkwrap, epoch: string): object {
  const own = { ...packages[''], version };
  const components = Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, locked]) =>
      component('library', path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length), locked),
    );
  // The same package may be in several folders.
  const distinct = [...new Map(components.map((one) => [one['bom-ref'], one])).values()];
  const metadata = {
    timestamp: new Date(Number(epoch) * 1_000).toISOString(),
    component: component('application', name, own),
  };
  const content = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata, components: distinct };
  return { $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json', serialNumber: urnOf(content), ...content };
}

function component(type: 'application' | 'library', name: string, { version, license, integrity }: Locked) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, algorithm = '', digest = ''] = /^(\w+)-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license && { licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }] }),
    ...(integrity && {
      hashes: [{ alg: ALGORITHMS[algorithm], content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
  };
}

/** The same content has the same number. UUID version 8: its digits are the writer's own. */
function urnOf(content: object): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}
