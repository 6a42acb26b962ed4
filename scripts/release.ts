/** `scripts/release`: makes what a release has, and sets the version everywhere. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, runMain } from './lib/problem.ts';
import { makeArtifacts, PARTS, type Part } from './lib/release/artifacts.ts';
import { dateSection, isDated } from './lib/release/changelog.ts';
import { command } from './lib/release/command.ts';
import { renderInstallPage } from './lib/release/install-page.ts';
import { createTags, tagsOf } from './lib/release/tags.ts';
import { setVersion, versionOf, versionsIn } from './lib/release/versions.ts';

const ROOT = resolve(import.meta.dirname, '..');
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const INSTALL_PAGE = join(ROOT, 'docs/install.md');
const HELP = `scripts/release [--version X.Y.Z] [--tag] [--only PARTS] [--out DIR] [--allow-dirty]
Makes what a release of this commit has, in dist/release/: the packages of the clients and of the
service, checksums, an SBOM and the release notes. Publishes and pushes nothing.
  --version X.Y.Z   write this version to all files that have it, date its section of CHANGELOG.md,
                    have docs/install.md name the registries, and end: commit that, then call scripts/release again
  --tag             also create the Git tags vX.Y.Z, clients/go/vX.Y.Z and clients/typescript/vX.Y.Z;
                    the last one has the built package, for npm
  --only PARTS      some of ${PARTS.join(', ')}, separated by commas
  --out DIR         instead of dist/release; it is emptied first
  --allow-dirty     although files are changed and not committed
  --help            show this help`;

const OPTIONS = {
  version: { type: 'string' },
  tag: { type: 'boolean', default: false },
  only: { type: 'string', default: PARTS.join(',') },
  out: { type: 'string', default: join(ROOT, 'dist/release') },
  'allow-dirty': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  if (!options['allow-dirty']) await refuseChanges();
  if (options.version !== undefined) return prepare(options.version);

  const version = versionOf(ROOT);
  refuseOtherVersions(version);
  const tags = options.tag ? tagsOf(version) : [];
  await refuseTags(tags, version);
  const out = resolve(options.out);
  const parts = readParts(options.only);
  await makeArtifacts({ root: ROOT, version, out, parts });
  if (options.tag) await createTags(ROOT, version);
  for (const name of readdirSync(out).sort()) {
    console.log(`${(statSync(join(out, name)).size / 1_000).toFixed(1).padStart(9)} kB  ${name}`);
  }
  console.log(
    parts.length === PARTS.length ? nextSteps(out, version, tags) : `In ${relative(process.cwd(), out) || '.'}`,
  );
});

function readOptions(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new Problem(`${(error as Error).message.split('. ')[0]}\n\n${HELP}`);
  }
}

function readParts(given: string): Part[] {
  const parts = given.split(',');
  const unknown = parts.find((part) => !(PARTS as readonly string[]).includes(part));
  if (unknown !== undefined) throw new Problem(`--only: got ${unknown}; expected ${PARTS.join(', ')}`);
  return parts as Part[];
}

/** A release has what is committed. */
async function refuseChanges(): Promise<void> {
  const changes = await git('status', '--porcelain');
  if (changes === '') return;
  throw new Problem(`These files are changed, and a release has what is committed. Commit or remove them:\n${changes}`);
}

function prepare(version: string): void {
  setVersion(ROOT, version);
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, dateSection(readFileSync(CHANGELOG, 'utf8'), version, today));
  writeFileSync(INSTALL_PAGE, renderInstallPage(version, true));
  console.log(`The version is ${version}, of ${today}. Commit that, and make the release: scripts/release --tag`);
}

function refuseOtherVersions(version: string): void {
  const other = versionsIn(ROOT).find((found) => found.version !== version);
  if (!other) return;
  throw new Problem(
    `package.json has version ${version}, and ${other.file} ${other.version ?? 'none'}. Write it to all files: scripts/release --version ${version}`,
  );
}

async function refuseTags(tags: string[], version: string): Promise<void> {
  if (tags.length === 0) return;
  if (!isDated(readFileSync(CHANGELOG, 'utf8'), version)) {
    throw new Problem(`CHANGELOG.md says no date for ${version}. Write it: scripts/release --version ${version}`);
  }
  const taken = await git('tag', '--list', ...tags);
  if (taken !== '') throw new Problem(`The Git tag ${taken.split('\n')[0]} exists`);
}

function nextSteps(out: string, version: string, tags: string[]): string {
  const push = `git push origin ${tagsOf(version).join(' ')}`;
  return `In ${relative(process.cwd(), out) || '.'}. To publish them:
  ${tags.length > 0 ? push : `scripts/release --tag && ${push}`}   # the Go client is its tag
  npm publish tidegate-${version}.tgz && npm publish tidegate-service-${version}.tgz
  twine upload *.whl tidegate-${version}.tar.gz`;
}

async function git(...args: string[]): Promise<string> {
  return (await command('git', args, { cwd: ROOT })).trim();
}
