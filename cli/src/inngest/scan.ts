/** Looks through the folder of an app for what ties it to an Inngest server: variables, addresses, the version of the SDK. Never keeps a value. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';

const SKIPPED = /^(?:node_modules|vendor|dist|build|target|coverage|__pycache__|venv|\..*)$/;
const READ =
  /\.(?:[cm]?[jt]sx?|py|go|ya?ml|toml|json|sh|tf|env|svelte|vue)$|^\.env|^Dockerfile|^Procfile|^requirements.*\.txt$|^go\.mod$/;
/** `.env.tidegate` is what this command has written. */
const NOT_READ = /^(?:package-lock\.json|pnpm-lock\.yaml|.*\.min\.js|\.env\.tidegate)$/;
const FILES_MAX = 10_000;
const BYTES_MAX = 1_048_576;
/** Maximum number of locations shown for each finding. */
const PLACES_MAX = 5;

const VARIABLE = /\bINNGEST_[A-Z][A-Z0-9_]*\b/g;
const ADDRESS = /\b(?:[\w-]+\.)?(?:inngest\.com|inn\.gs)\b/g;
const SDKS = [
  /"(inngest|@inngest\/[\w-]+)"\s*:\s*"([^"]+)"/g,
  /(?:^|["'\s])(inngest)\s*(?:\[[^\]]*\])?\s*([=~<>!]=?[^"',;\s]+)/gm,
  /\b(github\.com\/inngest\/inngestgo)\s+(v\S+)/g,
];
const HAS_SDK = /^(?:package\.json|pyproject\.toml|requirements.*\.txt|go\.mod)$/;

export interface Scan {
  /** Names, with places as `file:line`. */
  variables: Map<string, string[]>;
  /** Addresses of Inngest's own servers that are written into the code. */
  addresses: Map<string, string[]>;
  /** Packages with their versions. */
  sdks: Map<string, string[]>;
  files: number;
  /** Some files were not read. */
  isTruncated: boolean;
}

export async function scanFolder(folder: string): Promise<Scan> {
  const scan: Scan = { variables: new Map(), addresses: new Map(), sdks: new Map(), files: 0, isTruncated: false };
  await scanInto(scan, folder, folder);
  return scan;
}

async function scanInto(scan: Scan, folder: string, root: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.test(entry.name)) await scanInto(scan, path, root);
    if (!entry.isFile() || !READ.test(entry.name) || NOT_READ.test(entry.name)) continue;
    if (scan.files >= FILES_MAX || (await lstat(path)).size > BYTES_MAX) scan.isTruncated = true;
    else scanFile(scan, relative(root, path), await readFile(path, 'utf8'));
  }
}

function scanFile(scan: Scan, path: string, text: string): void {
  scan.files++;
  for (const [i, line] of text.split('\n').entries()) {
    const place = `${path}:${i + 1}`;
    for (const [name] of line.matchAll(VARIABLE)) add(scan.variables, name, place);
    // Imports and links to documentation are no addresses of a server.
    if (/\/docs|www\.|^\s*(?:\/\/|#|\*)/.test(line)) continue;
    for (const [host] of line.matchAll(ADDRESS)) if (host !== 'inngest.com') add(scan.addresses, host, place);
  }
  if (!HAS_SDK.test(basename(path))) return;
  for (const pattern of SDKS) {
    for (const [, name = '', version = ''] of text.matchAll(pattern)) add(scan.sdks, `${name} ${version}`, path);
  }
}

function add(found: Map<string, string[]>, name: string, place: string): void {
  const places = found.get(name) ?? [];
  if (places.length < PLACES_MAX && !places.includes(place)) places.push(place);
  found.set(name, places);
}
