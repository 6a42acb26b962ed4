/** Artifacts of a release of this tree, for tests. */
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { must } from './program.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface MadeRelease {
  /** Path of the file whose name ends so. @throws if there is none */
  file(suffix: string): string;
  /** A new empty folder. */
  folder(): string;
  remove(): void;
}

/** @param only the parts of scripts/release */
export async function makeRelease(only: string): Promise<MadeRelease> {
  const work = mkdtempSync(join(tmpdir(), 'tidegate-release-'));
  const out = join(work, 'release');
  await must(process.execPath, [join(ROOT, 'scripts/release.ts'), '--allow-dirty', '--only', only, '--out', out], {
    cwd: work,
  });
  return {
    file(suffix) {
      const found = readdirSync(out).find((name) => name.endsWith(suffix));
      if (!found) throw new Error(`No ${suffix} among ${readdirSync(out).join(', ')}`);
      return join(out, found);
    },
    folder: () => mkdtempSync(join(work, 'project-')),
    remove: () => rmSync(work, { recursive: true, force: true }),
  };
}

/** A copy of what is committed, with the packages of this tree. */
export async function cloneTree(): Promise<{ root: string; remove(): void }> {
  const work = mkdtempSync(join(tmpdir(), 'tidegate-clone-'));
  const root = join(work, 'tidegate');
  await must('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, root], { cwd: work });
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { workspaces: string[] };
  for (const folder of ['.', ...workspaces].map((workspace) => join(workspace, 'node_modules'))) {
    if (existsSync(join(ROOT, folder))) symlinkSync(join(ROOT, folder), join(root, folder));
  }
  // .gitignore names the folders, and these are links.
  appendFileSync(join(root, '.git/info/exclude'), 'node_modules\n');
  return { root, remove: () => rmSync(work, { recursive: true, force: true }) };
}
