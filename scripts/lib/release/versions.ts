/** The version of everything that is released together. package.json has it; what cannot read that file has a copy, which `setVersion` keeps equal. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../problem.ts';

/** Stands for the version in the texts below. */
const MARK = '{}';
const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/;
const MANIFEST = 'package.json';
/** Names of the packages in package-lock.json. */
const PACKAGES = [
  'tidegate-service',
  'tidegate',
  'tidegate-cli',
  'tidegate-dashboard',
  'tidegate-tests',
  'example-shop',
];

/** File → the texts around its version; each occurs at least once. */
const PLACES: Record<string, string[]> = {
  [MANIFEST]: ['"version": "{}"'],
  'package-lock.json': [
    ...PACKAGES.map((name) => `"name": "${name}",\n      "version": "{}"`),
    '"name": "tidegate-service",\n  "version": "{}"',
    '"tidegate": "{}"',
  ],
  'cli/package.json': ['"version": "{}"'],
  'dashboard/package.json': ['"version": "{}"'],
  'test/package.json': ['"version": "{}"'],
  'examples/typescript/package.json': ['"version": "{}"', '"tidegate": "{}"'],
  'examples/go/go.mod': ['github.com/tidegate/tidegate/clients/go v{}'],
  'chaos/apps/go/go.mod': ['github.com/tidegate/tidegate/clients/go v{}'],
  'clients/typescript/package.json': ['"version": "{}"'],
  'clients/typescript/src/version.ts': ["VERSION = '{}'"],
  'clients/python/src/tidegate/_version.py': ['VERSION = "{}"'],
  'clients/go/version.go': ['Version = "{}"'],
  'clients/typescript/README.md': ['tidegate-{}.tgz', '#clients/typescript/v{}'],
  'clients/python/README.md': ['tidegate-{}-py3'],
  'clients/go/README.md': ['`clients/go/v{}`', 'tidegate/clients/go@v{}'],
};
/** The Helm chart has a version of its own, and that of what it installs. */
const CHART = { 'deploy/helm/tidegate/Chart.yaml': ['\nappVersion: "{}"'] };

export interface Found {
  file: string;
  /** What the file has around its version. */
  text: string;
  /** Undefined: the text does not occur. */
  version: string | undefined;
}

export function versionOf(root: string): string {
  return JSON.parse(readFileSync(join(root, MANIFEST), 'utf8')).version;
}

/** Every place that has the version. */
export function versionsIn(root: string): Found[] {
  return places(root).flatMap(([file, texts]) => {
    const content = readFileSync(join(root, file), 'utf8');
    return texts.flatMap((text) => {
      const found = [...content.matchAll(pattern(text))].map(([, , version]) => version);
      return (found.length > 0 ? found : [undefined]).map((version) => ({ file, text, version }));
    });
  });
}

/** Writes the version to all places.
 *  @throws Problem if it is no version, or a file lacks its place */
export function setVersion(root: string, version: string): void {
  if (!VERSION.test(version))
    throw new Problem(`--version: got ${JSON.stringify(version)}; expected one such as 1.2.3`);
  const missing = versionsIn(root).find((found) => found.version === undefined);
  if (missing)
    throw new Problem(`${missing.file} has no ${JSON.stringify(missing.text)} (scripts/lib/release/versions.ts)`);
  for (const [file, texts] of places(root)) {
    const path = join(root, file);
    const content = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      texts.reduce((all, text) => all.replaceAll(pattern(text), `$1${version}$3`), content),
    );
  }
}

function places(root: string): [string, string[]][] {
  const chart = Object.entries(CHART).filter(([file]) => existsSync(join(root, file)));
  return [...Object.entries(PLACES), ...chart];
}

function pattern(text: string): RegExp {
  const [before = '', after = ''] = text.split(MARK).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  return new RegExp(`(${before})(\\d+\\.\\d+\\.\\d+[-0-9a-z.]*)(${after})`, 'g');
}
