/** Builds dashboard/dist when its inputs are newer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Problem } from './problem.ts';

/** Inputs of the build. From src/ the dashboard imports values only from model/, and types, which the build erases, from elsewhere. */
const INPUTS = ['dashboard', 'src/model', 'cli/src/what-if/words.ts', 'package-lock.json'];
const PAGE = 'index.html';
const OUTPUT = /^(node_modules|dist|\.dist-.*)$/;

export function isDashboardStale(root: string): boolean {
  const page = join(root, 'dashboard/dist', PAGE);
  if (!existsSync(join(root, 'dashboard/vite.config.ts'))) return false;
  return !existsSync(page) || INPUTS.some((input) => newest(join(root, input)) > statSync(page).mtimeMs);
}

/** Builds next to the existing build and then replaces it, so that a running service always has a complete one.
 *  @throws Problem with the output of the build */
export async function buildDashboard(root: string): Promise<void> {
  const dashboard = resolve(root, 'dashboard');
  const fresh = mkdtempSync(join(dashboard, '.dist-'));
  chmodSync(fresh, 0o755);
  const startedAt = new Date();
  try {
    await vite(root, ['build', dashboard, '--outDir', fresh, '--emptyOutDir', '--logLevel', 'error']);
    // Changes during the build may be missing from it.
    utimesSync(join(fresh, PAGE), startedAt, startedAt);
    replace(join(dashboard, 'dist'), fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function vite(root: string, args: string[]): Promise<void> {
  const child = spawn('vite', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Problem(`The dashboard build failed:\n${output.trim()}`);
}

/** When two builds run at once, one finds the folder taken by a build as new as its own. */
function replace(dist: string, fresh: string): void {
  const former = `${fresh}-former`;
  try {
    if (existsSync(dist)) renameSync(dist, former);
    renameSync(fresh, dist);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(former, { recursive: true, force: true });
  }
}

/** The last change of the file, or in the folder, in Unix milliseconds. Removing a file changes its folder. */
export function newest(path: string): number {
  const { mtimeMs, isDirectory } = seen(path);
  if (!isDirectory) return mtimeMs;
  const inside = readdirSync(path).filter((name) => !OUTPUT.test(name));
  // A folder with build output changes with every build.
  const own = inside.length < readdirSync(path).length ? 0 : mtimeMs;
  return Math.max(own, ...inside.map((name) => newest(join(path, name))));
}

function seen(path: string): { mtimeMs: number; isDirectory: boolean } {
  const found = statSync(path, { throwIfNoEntry: false });
  return { mtimeMs: Math.floor(found?.mtimeMs ?? 0), isDirectory: found?.isDirectory() ?? false };
}
