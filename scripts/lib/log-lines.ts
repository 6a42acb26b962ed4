/** Formats the output of several programs for one terminal: a colored name before each line, shortened JSON logs. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { styleText } from 'node:util';

export type Color = 'cyan' | 'magenta' | 'green' | 'yellow' | 'blue' | 'red' | 'dim';
export type Print = (text: string) => void;

const LEVEL_COLORS: Record<string, Color> = { warn: 'yellow', error: 'red', fatal: 'red', debug: 'dim' };
const NAME_WIDTH = 8;

/** Prints lines to standard output with a name; in color only in a terminal. */
export function printer(name: string, color: Color): Print {
  const prefix = styleText(color, name.padEnd(NAME_WIDTH));
  return (text) => {
    for (const line of text.split('\n')) console.log(`${prefix} ${line}`);
  };
}

export function printLines(stream: Readable, print: Print): void {
  createInterface({ input: stream }).on('line', (line) => print(shorten(line)));
}

/** `{"level":"info","time":"2026-01-01T10:00:00.123Z","role":"web","msg":"listening","port":8288}` becomes
 *  `10:00:00.123 info  listening  port=8288`; other lines stay as they are. */
export function shorten(line: string): string {
  const log = parseLog(line);
  if (!log) return line;
  const { time, level, msg = '', role: _, ...facts } = log;
  const stack = stackOf(facts.err);
  if (stack) delete facts.err;
  const shown = Object.entries(facts).map(([name, value]) => styleText('dim', ` ${name}=${inline(value)}`));
  const short = `${time.slice(11, 23)} ${styleText(LEVEL_COLORS[level] ?? 'dim', level.padEnd(5))} ${msg} ${shown.join('')}`;
  return stack ? `${short.trimEnd()}\n${stack}` : short.trimEnd();
}

interface LogLine {
  time: string;
  level: string;
  msg?: string;
  role?: string;
  [fact: string]: unknown;
}

function parseLog(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const log = JSON.parse(line);
    return typeof log.time === 'string' && typeof log.level === 'string' ? log : undefined;
  } catch {
    return undefined;
  }
}

function inline(value: unknown): string {
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}

function stackOf(err: unknown): string | undefined {
  return (err as { stack?: string } | undefined)?.stack;
}
