/** What processes use, as Linux tells it in /proc. */
import { readFileSync } from 'node:fs';
import { listProcesses } from '../scripts/lib/processes.ts';

/** Linux counts CPU time for its users in hundredths of a second, on every machine. */
const TICKS_PER_SECOND = 100;

/** User and system time since its start; 0 when it is gone. */
export function cpuSeconds(pid: number): number {
  const stat = read(pid, 'stat');
  // pid (program) state …: the program's name may itself hold spaces. utime and stime are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** 0 when it is gone. */
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
