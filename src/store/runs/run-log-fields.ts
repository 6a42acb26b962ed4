/** Log of a run as hash fields: `<number>` → line, as JSON; `n` and `b`, number of lines and bytes; `d`, dropped lines; `w` and `c`,
 *  start of the window in which requests are counted, and their number; `m` and `i:<batch>`, the stored batches. */
import type { LogLine, RunLog } from '../../model/runs/log-lines.ts';

/** The log without the bookkeeping of requests. */
export interface StoredRunLog {
  /** JSON texts. */
  lines: string[];
  dropped: number;
}

export function storedRunLog(fields: Readonly<Record<string, string>>): StoredRunLog {
  const numbers = Array.from({ length: Number(fields.n ?? 0) }, (_, i) => i);
  return { lines: numbers.flatMap((i) => fields[i] ?? []), dropped: Number(fields.d ?? 0) };
}

export function toRunLog({ lines, dropped }: StoredRunLog): RunLog {
  return { lines: lines.map((text) => JSON.parse(text) as LogLine), dropped };
}
