/** Finds or installs Chromium for the browser tests. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Problem } from './problem.ts';
import { installPackage } from './system-package.ts';

/** Names used by Debian, Ubuntu, Google and Homebrew. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const PACKAGE = { name: 'Chromium', debian: 'chromium', brew: ['--cask', 'chromium'] };

/** @returns the program's path
 *  @throws Problem if it is missing and cannot be installed */
export function findChromium(): string {
  const found = present() ?? (installPackage(PACKAGE) ? present() : undefined);
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
