/** Bundles the command line into the package of the client: one file with everything it needs, for every Node that the client supports.
 *
 *      node cli/bundle.ts <folder> */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const ENTRY = join(import.meta.dirname, 'src/main.ts');
/** The oldest Node of clients/typescript/package.json. */
const TARGET = 'node20.3';

if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  await bundleCli(folder);
}

/** @param folder of the built package; gets cli.js, and the licenses of what is in it */
export async function bundleCli(folder: string): Promise<void> {
  const licenses = readLicenses();
  const bundle = await rolldown({ input: ENTRY, platform: 'node', transform: { target: TARGET } });
  const file = join(folder, 'cli.js');
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  chmodSync(file, 0o755);
  writeFileSync(join(folder, 'cli-licenses.txt'), licenses);
}

/** Its dependencies have none of their own. @throws Error for one of another version than package.json says */
function readLicenses(): string {
  const { dependencies } = readManifest(join(import.meta.dirname, 'package.json'));
  const texts = Object.entries(dependencies).map(([name, range]) => {
    const manifest = findPackageJSON(name, ENTRY) as string;
    checkVersion(name, readManifest(manifest).version, range);
    return `cli.js contains ${name}:\n\n${readFileSync(join(dirname(manifest), 'LICENSE'), 'utf8').trim()}\n`;
  });
  return texts.join('\n\n');
}

/** Without cli/node_modules the bundle would contain what the repository's root has for others, of an older major version.
 *  @param range as `^15.1.0` */
function checkVersion(name: string, version: string, range: string): void {
  if (range.startsWith(`^${version.split('.')[0]}.`)) return;
  throw new Error(`The command line needs ${name} ${range}, and found ${version}. Run npm install in the root`);
}

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'));
}
