/** The log of a run as fields: `<number>` → line, as JSON; `n` and `b`, the number of lines and their bytes; `d`, the lines that were left out; `w` and
 *  `c`, since when requests are counted, and how many came; `m` and `i:<batch>`, the batches that were stored. */
import type { LogLine, RunLog } from '../../model/runs/log-lines.ts';

/** Without what only requests of apps need. */
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
