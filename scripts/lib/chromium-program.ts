/** Finds or installs Chromium for the browser tests. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { Problem } from './problem.ts';
import { installPackage } from './system-package.ts';

/** Debian's. It has no windows, and loads a page with two thirds of the CPU time of the others. */
const HEADLESS_SHELL = 'chromium-headless-shell';
/** Names used by Debian, Ubuntu, Google and Homebrew. */
const NAMES = [HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const BREW = ['--cask', 'chromium'];
/** Ubuntu has the second only. */
const PACKAGES = [HEADLESS_SHELL, 'chromium'].map((debian) => ({ name: 'Chromium', debian, brew: BREW }));

/** @returns the program's path
 *  @throws Problem if it is missing and cannot be installed */
export function findChromium(): string {
  const found = present() ?? (PACKAGES.some(installPackage) ? present() : undefined);
  if (!found) {
    throw new Problem(`The dashboard tests need Chromium or Chrome; found none, and could not install it.
Install it ('apt-get install chromium' as root, or 'brew install --cask chromium') on the PATH, or skip these tests:
  scripts/test --ignore 'test/dashboard/**'`);
  }
  return found;
}

/** For a run with many pages: installs the headless shell even where another Chromium is, if apt-get has it.
 *  @throws Problem as findChromium does */
export function prepareChromium(): void {
  const [headlessShell] = PACKAGES;
  const isThere = basename(present() ?? '') === HEADLESS_SHELL;
  if (headlessShell && !isThere && isOffered(HEADLESS_SHELL)) installPackage(headlessShell);
  findChromium();
}

/** Whether the lists of apt-get have it, which asks no server. */
function isOffered(debian: string): boolean {
  return spawnSync('apt-cache', ['show', debian], { stdio: 'ignore' }).status === 0;
}

function present(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...candidates, ...MAC_APPS].find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
