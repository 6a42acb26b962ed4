/** The npm package of the service: bundled, and compiled where it is not, since Node runs no TypeScript in node_modules; with the dashboard and the versions
 *  of package-lock.json. */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLES, bundleService, isExternal } from '../bundle.ts';
import { buildDashboard, isDashboardStale } from '../dashboard.ts';
import { command } from './command.ts';
import type { Shrinkwrap } from './sbom.ts';
import { type Lock, shrinkwrap } from './shrinkwrap.ts';

const OWN = 'scripts/lib/release/service';
const BIN = 'scripts/tidegate-service';
const CHECK_NODE = 'scripts/check-node.cjs';
/** What the code reads beside itself. */
const DATA = ['src/**/*.lua', 'src/**/*.sql', 'docs/*.md', 'docs/llms.txt'];
const COPIES = {
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
  'scripts/start': 'scripts/start',
  'dashboard/dist': 'dashboard/dist',
  [`${OWN}/README.md`]: 'README.md',
  [`${OWN}/tidegate-service`]: BIN,
  [`${OWN}/check-node.cjs`]: CHECK_NODE,
};

/** @param folder gets the content of the package
 *  @returns all packages whose code it has or installs */
export async function stageService(root: string, folder: string): Promise<Shrinkwrap> {
  if (isDashboardStale(root)) await buildDashboard(root);
  await command('tsc', ['-p', join(root, OWN, 'tsconfig.json'), '--outDir', folder], { cwd: root });
  await bundleService(root, join(folder, BUNDLES), '.js');
  const data = DATA.flatMap((pattern) => globSync(pattern, { cwd: root })).map((file) => [file, file]);
  for (const [from, to] of [...data, ...Object.entries(COPIES)] as [string, string][]) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(join(root, from), join(folder, to), { recursive: true });
  }
  const lock: Lock = readJson(join(root, 'package-lock.json'));
  const manifest = published(
    readJson(join(root, 'package.json')),
    readJson<Manifest>(join(root, 'clients/typescript/package.json')),
  );
  const all = shrinkwrap(lock, manifest);
  manifest.dependencies = pinned(lock, loaded(folder, Object.keys(manifest.dependencies)));
  writeJson(join(folder, 'package.json'), manifest);
  writeJson(join(folder, 'npm-shrinkwrap.json'), shrinkwrap(lock, manifest));
  return all;
}

type Manifest = Record<string, unknown> & { name: string; version: string; dependencies: Record<string, string> };

/** @param client has the addresses of the repository, too */
function published(manifest: Manifest, client: Manifest): Manifest {
  const { name, version, description, license, type, engines, dependencies, allowScripts, overrides } = manifest;
  const { author, repository, homepage, bugs } = client;
  return {
    ...{ name, version, description, license, author, repository, homepage, bugs, type, engines },
    bin: { 'tidegate-service': BIN },
    // Not in the repository's manifest: any Node from 20 on installs what develops the service, Node 24 among it.
    scripts: { preinstall: `node ${CHECK_NODE}` },
    ...{ dependencies, allowScripts, overrides },
  };
}

/** The packages that the staged code loads; the bundles have the code of the others. Without those, an installation takes 37 MB less. */
function loaded(folder: string, names: string[]): string[] {
  const found = new Set<string | undefined>();
  for (const file of globSync(['src/**/*.js', 'scripts/**/*.js'], { cwd: folder })) {
    const imports = readFileSync(join(folder, file), 'utf8').matchAll(
      /\b(?:from|import|import\() ?['"]((?:@[^/'"]+\/)?[^/'"]+)/g,
    );
    for (const [, name] of imports) found.add(name);
  }
  return names.filter((name) => found.has(name) || isExternal(name));
}

/** npm heeds the shrinkwrap of a package from a registry, and where the package is unpacked; not of one that is installed from a file. */
function pinned({ packages }: Lock, names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, packages[`node_modules/${name}`]?.version ?? '*']));
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
