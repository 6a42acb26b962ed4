/** Everything that a release has, in one folder. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseNotes } from './changelog.ts';
import { command } from './command.ts';
import { buildPythonPackages } from './python-package.ts';
import { sbom } from './sbom.ts';
import { stageService } from './service-package.ts';

export const CHECKSUMS = 'CHECKSUMS.txt';
export const GO_MODULE = 'github.com/tidegate/tidegate/clients/go';

/** The parts that can be made alone. */
export const PARTS = ['client', 'service', 'python', 'go'] as const;
export type Part = (typeof PARTS)[number];

export interface Release {
  root: string;
  version: string;
  /** Is emptied first. */
  out: string;
  parts: readonly Part[];
}

/** @returns names of the files. @throws Problem with the output of what failed */
export async function makeArtifacts({ root, version, out, parts }: Release): Promise<string[]> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'tidegate-release-'));
  const epoch = await timeOfCommit(root);
  const makers: Record<Part, () => Promise<void>> = {
    client: async () => {
      const folder = join(work, 'tidegate');
      await buildClient(root, folder);
      await pack(folder, out);
    },
    service: async () => {
      const folder = join(work, 'tidegate-service');
      const packages = await stageService(root, folder);
      await pack(folder, out);
      writeFileSync(
        join(out, `tidegate-service-${version}.cdx.json`),
        `${JSON.stringify(sbom(packages, epoch), null, 2)}\n`,
      );
    },
    python: () => buildPythonPackages(root, out, epoch),
    go: () => packGoModule(root, join(out, `tidegate-go-${version}.zip`), version),
  };
  try {
    for (const part of parts) await makers[part]();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  writeFileSync(join(out, 'RELEASE_NOTES.md'), releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version));
  writeFileSync(join(out, CHECKSUMS), checksums(out));
  return readdirSync(out).sort();
}

/** The npm package of the TypeScript client and the command line. */
export async function buildClient(root: string, folder: string): Promise<void> {
  await command('node', [join(root, 'clients/typescript/build.ts'), folder], { cwd: root });
}

/** Unix seconds, as text: the time of all files. */
export async function timeOfCommit(root: string): Promise<string> {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  return given ?? (await command('git', ['log', '-1', '--format=%ct'], { cwd: root })).trim();
}

async function pack(folder: string, out: string): Promise<void> {
  await command('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder });
}

/** The files that Go downloads for the tag, in the zip format of Go's modules. What is not committed is not in it. */
async function packGoModule(root: string, file: string, version: string): Promise<void> {
  const args = ['archive', '--format=zip', `--output=${file}`, `--prefix=${GO_MODULE}@v${version}/`, 'HEAD'];
  // In a folder it takes this folder alone. A zip has local times.
  await command('git', args, { cwd: join(root, 'clients/go'), env: { TZ: 'UTC' } });
}

/** As `sha256sum --check` reads it. */
function checksums(folder: string): string {
  const lines = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}`,
    );
  return `${lines.join('\n')}\n`;
}
