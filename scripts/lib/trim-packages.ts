/** Removes from installed packages what no process reads at run time: half of their size. */
import { existsSync, globSync, lstatSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Source maps, types (Node runs no TypeScript in node_modules), records of compilers, and packages that packages contain by mistake. */
const FILES = '**/*.{map,ts,mts,cts,tsbuildinfo,tgz}';
/** Native code of prebuildify: a folder for each platform. */
const BINARIES = '**/prebuilds/*';
/** A deployment has a Node of its own. */
const DEVELOPMENT = 'node';

/** @param modules the folder node_modules; links to workspaces in it are not followed
 *  @returns bytes that were removed; undefined: development packages are installed, and need all of it */
export function trimPackages(
  modules: string,
  { platform, arch }: { platform: string; arch: string },
): number | undefined {
  if (existsSync(join(modules, DEVELOPMENT))) return undefined;
  const isOurs = (folder: string) => folder.startsWith(`${platform}-`) && folder.includes(arch);
  const foreign = globSync(BINARIES, { cwd: modules, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !isOurs(entry.name))
    .flatMap(({ parentPath, name }) => filesIn(join(parentPath, name)));
  const needless = globSync(FILES, { cwd: modules }).map((file) => join(modules, file));
  const files = new Set([...foreign, ...needless].filter((file) => lstatSync(file).isFile()));
  const bytes = [...files].reduce((sum, file) => sum + statSync(file).size, 0);
  for (const file of files) rmSync(file);
  return bytes;
}

function filesIn(folder: string): string[] {
  return globSync('**', { cwd: folder }).map((file) => join(folder, file));
}
