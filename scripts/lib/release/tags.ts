/** The Git tags of a release. Go installs its module from one; npm the TypeScript client from another, whose only files are those of the package:
 *  of the repository itself npm would install all that develops the service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClient, timeOfCommit } from './artifacts.ts';
import { command } from './command.ts';

const npmTag = (version: string) => `clients/typescript/v${version}`;

export function tagsOf(version: string): string[] {
  return [`v${version}`, `clients/go/v${version}`, npmTag(version)];
}

export async function createTags(root: string, version: string): Promise<void> {
  const built = await commitPackage(root, version);
  for (const tag of tagsOf(version)) {
    const commit = tag === npmTag(version) ? built : 'HEAD';
    await command('git', ['tag', '--annotate', tag, commit, '--message', `Tidegate ${version}`], { cwd: root });
  }
}

/** @returns a commit without a parent, on no branch, that has the built client */
async function commitPackage(root: string, version: string): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'tidegate-tag-'));
  const folder = join(work, 'tidegate');
  const time = `${await timeOfCommit(root)} +0000`;
  const env = { GIT_INDEX_FILE: join(work, 'index'), GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time };
  const git = async (...args: string[]) => (await command('git', args, { cwd: root, env })).trim();
  try {
    await buildClient(root, folder);
    await git('--work-tree', folder, 'add', '--all', '--force', '.');
    return await git('commit-tree', await git('write-tree'), '-m', `The npm package tidegate ${version}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
