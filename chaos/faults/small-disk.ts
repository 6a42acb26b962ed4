/** A small tmpfs for Redis, to simulate a full disk where mounting is allowed. */
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SIZE = '256m';

export interface SmallDisk {
  /** Fills the disk except for this many bytes. */
  fill(leaveBytes: number): void;
  free(): void;
  unmount(): void;
}

/** @returns undefined where mounting is not allowed, for example without root */
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
