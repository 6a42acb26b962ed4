/** Watches folders for changed files. */
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write a file in several steps, and a checkout writes many files: one call for all of them. */
const QUIET_MS = 150;

/** Temporary files of editors and tools. */
const LITTER = /(^|\/)(\.|node_modules(\/|$)|__pycache__)|~$|\.(sw.|tmp)$/;

/** Watches until the process exits.
 *  @param onChange called with the last changed path */
export function watchFolders(folders: string[], onChange: (path: string) => void): void {
  let timer: NodeJS.Timeout | undefined;
  for (const folder of folders.filter(existsSync)) {
    const watcher = watch(folder, { recursive: true }, (_event, path) => {
      if (path === null || LITTER.test(path)) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, QUIET_MS, join(folder, path));
    });
    watcher.on('error', ({ message }) => console.error(`Stopped watching ${folder}: ${message}`));
  }
}
