/** Divides the tests into runs of mocha, of which scripts/test has several at a time. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { MochaRun } from './mocha.ts';

/** Each installs and compiles in the same folders of .data, so its files run one after the other; different ones do not share any. */
const INSTALLING = [
  [
    'test/official',
    'test/languages/together.test.ts',
    'test/languages/versions.test.ts',
    'test/what-if/languages.test.ts',
  ],
  ['test/languages', 'test/release'],
];
/** Injects faults. */
const CHAOS = 'test/chaos';
/** Begin first, because they take longest and wait most: what comes last should be short, and compute. Those of a line share runs. */
const LONG = [
  [CHAOS],
  ['test/archive'],
  ['test/runs'],
  ['test/upgrade', 'test/move', 'test/search'],
  ['test/store'],
  ['test/dashboard'],
  ['test/flow-control', 'test/scripts'],
];
const ROOTS = ['test', 'clients/typescript/test'];
const TEST = '.test.ts';
/** A process of mocha loads the service and the tests' helpers, which takes 2 s of CPU time: many files share one. */
const FILES_PER_RUN = 36;
/** Runs get smaller, so that the last does not end long after the others: each takes this part of the files that are left. */
const PART_OF_LEFT = 1 / 8;
const FILES_PER_RUN_MIN = 12;

/** All tests but those in `without` (paths of files), the longest runs first. */
export function planTests(root: string, without: readonly string[]): MochaRun[] {
  let left = ROOTS.flatMap((folder) => testFiles(root, folder)).filter((path) => !without.includes(path));
  const take = (paths: readonly string[]) => {
    const taken = paths.flatMap((path) => left.filter((file) => file === path || file.startsWith(`${path}/`)));
    left = left.filter((file) => !taken.includes(file));
    return taken;
  };
  const installing = INSTALLING.map(take);
  const long = LONG.map(take);
  const runs = [...installing, ...long.flatMap(inParts), ...inSmallerParts(left)];
  return runs
    .filter((files) => files.length > 0)
    .map((files) => ({
      args: files,
      name: titleOf(files),
      isFirst: files[0]?.startsWith(CHAOS) ?? false,
    }));
}

/** Parts of about the same size. */
function inParts(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / FILES_PER_RUN);
  return Array.from({ length: count }, (_, part) =>
    files.slice((part * files.length) / count, ((part + 1) * files.length) / count),
  );
}

function inSmallerParts(files: readonly string[]): string[][] {
  const count = Math.min(FILES_PER_RUN, Math.max(FILES_PER_RUN_MIN, Math.ceil(files.length * PART_OF_LEFT)));
  if (files.length < count + FILES_PER_RUN_MIN) return [[...files]];
  return [files.slice(0, count), ...inSmallerParts(files.slice(count))];
}

function testFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(TEST) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

/** `test/events` of `test/events/attacks/x.test.ts`. */
function folderOf(file: string): string {
  const inTest = file.split('/').slice(0, 2).join('/');
  return file.startsWith('test/') ? inTest : 'clients/typescript/test';
}

function titleOf(files: readonly string[]): string {
  const [first = '', last = ''] = [files[0], files.at(-1)];
  return `${folderOf(first)}/${basename(first, TEST)} … ${folderOf(last)}/${basename(last, TEST)}`;
}
