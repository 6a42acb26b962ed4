/** CPU time and memory of processes, from Linux's /proc. */
import { readFileSync } from 'node:fs';
import { listProcesses } from '../scripts/lib/processes.ts';

/** USER_HZ, which is 100 on every Linux. */
const TICKS_PER_SECOND = 100;

/** User and system time since the start of the process; 0 after its exit. */
export function cpuSeconds(pid: number): number {
  const stat = read(pid, 'stat');
  // Format: pid (program) state … The program's name may contain spaces. utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** 0 after the exit of the process. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s*(\d+) kB/.exec(read(pid, 'status'))?.[1] ?? 0) * 1_024;
}

export function childrenOf(pid: number): number[] {
  return listProcesses()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
