/** A small disk of Redis's own, to fill: a tmpfs, where this machine lets one be mounted. */
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SIZE = '256m';

export interface SmallDisk {
  /** But for so many bytes. */
  fill(leaveBytes: number): void;
  free(): void;
  unmount(): void;
}

/** @returns undefined where it cannot be mounted, as for who is not root */
export function mountSmallDisk(dir: string): SmallDisk | undefined {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tidegate-chaos', dir]);
  if (status !== 0) return undefined;
  const filler = join(dir, 'filler');
  return {
    fill(leaveBytes) {
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes)));
    },
    free: () => rmSync(filler, { force: true }),
    unmount: () => void spawnSync('umount', ['--lazy', dir]),
  };
}
