/** Finds or installs Chromium for the browser tests. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Problem } from './problem.ts';
import { installPackage } from './system-package.ts';

/** Names used by Debian, Ubuntu, Google and Homebrew. The first has no windows, and loads a page with two thirds of the CPU time of the others. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const BREW = ['--cask', 'chromium'];
/** Ubuntu has the second only. */
const PACKAGES = ['chromium-headless-shell', 'chromium'].map((debian) => ({ name: 'Chromium', debian, brew: BREW }));

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
