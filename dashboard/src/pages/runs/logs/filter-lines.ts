import type { LogLine } from '../../../api/types.ts';
import { stringifyExact } from '../../../lib/exact-json.ts';

const LEVELS: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error'];

export interface LineFilter {
  /** The lowest level. */
  level: LogLine['level'];
  /** Part of the message or of the fields, in upper or lower case. */
  text: string;
  /** Whether lines of steps are wanted too. */
  steps: boolean;
}

export function filteredLines(lines: readonly LogLine[], { level, text, steps }: LineFilter): LogLine[] {
  const lowest = LEVELS.indexOf(level);
  const wanted = text.trim().toLowerCase();
  return lines.filter(
    (line) =>
      (steps || line.step_id === null) &&
      LEVELS.indexOf(line.level) >= lowest &&
      (wanted === '' || textOf(line).includes(wanted)),
  );
}

function textOf({ message, fields }: LogLine): string {
  return `${message} ${fields ? stringifyExact(fields) : ''}`.toLowerCase();
}
