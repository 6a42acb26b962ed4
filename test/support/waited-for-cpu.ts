import { readFileSync } from 'node:fs';

/** How long the main thread of the process has been runnable without a CPU, in milliseconds; 0 on other systems than Linux. */
export function waitedForCpuMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
