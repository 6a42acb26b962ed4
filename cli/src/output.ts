/** Output of commands: tables and fields for people, or with `--json` one document, or one line for each item of a stream. */
import type { Writable } from 'node:stream';
import { type Cell, column, type Row, renderTable } from './table.ts';

const COLORS = { red: 31, green: 32, yellow: 33, blue: 34, gray: 90, bold: 1 } as const;
export type Color = keyof typeof COLORS;

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is made of them
const PAINT = /(\x1b\[\d{1,2}m)/;

const STATUS_COLORS: Record<string, Color> = {
  Completed: 'green',
  Failed: 'red',
  Cancelled: 'yellow',
  Running: 'blue',
  Waiting: 'blue',
};

interface Terminal extends Writable {
  isTTY?: boolean;
  columns?: number;
}

export interface OutputOptions {
  stdout: Terminal;
  stderr: Terminal;
  json: boolean;
  colors: boolean;
}

export class Output {
  readonly json: boolean;
  readonly #stdout: Terminal;
  readonly #stderr: Terminal;
  readonly #colors: boolean;

  constructor({ stdout, stderr, json, colors }: OutputOptions) {
    this.json = json;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#colors = colors;
  }

  /** The result of the command: as JSON, or for people as `human` prints it. */
  result(data: unknown, human: () => void): void {
    if (this.json) this.line(printable(JSON.stringify(data, null, 2) ?? 'null'));
    else human();
  }

  /** One item of a stream. */
  item(data: unknown, human: () => void): void {
    if (this.json) this.line(printable(JSON.stringify(data) ?? 'null'));
    else human();
  }

  line(text = ''): void {
    this.#stdout.write(`${this.#harmless(text)}\n`);
  }

  /** A note for people in addition to the result: it goes to stderr, not into a pipe. */
  note(text: string): void {
    if (!this.json) this.#stderr.write(`${this.#harmless(text)}\n`);
  }

  /** @param empty what to say when there are no rows */
  table(headings: string[], rows: Row[], empty = 'None.'): void {
    if (rows.length === 0) this.line(this.paint('gray', empty));
    const width = this.#stdout.isTTY ? this.#stdout.columns : undefined;
    const lines = rows.length === 0 ? [] : renderTable(headings, rows, width);
    for (const [i, line] of lines.entries()) {
      this.line(i === 0 ? this.paint('bold', line) : line);
    }
  }

  /** Names and values below each other; leaves out those without a value. */
  fields(values: Record<string, unknown>): void {
    const shown = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value] of shown) {
      const text = typeof value === 'string' ? printable(value) : printable(JSON.stringify(value, null, 2));
      this.line(`${this.paint('gray', column(name, width))}  ${text.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`);
    }
  }

  /** The status of a run, a replay or another object, in its color. */
  status(status: string | null): Cell {
    const color = STATUS_COLORS[status ?? ''];
    return color ? { text: status ?? '', paint: (text) => this.paint(color, text) } : status;
  }

  /** Whatever the text is made of: only the colors of `paint` get through. */
  #harmless(text: string): string {
    if (!this.#colors) return printable(text);
    return text
      .split(PAINT)
      .map((part, i) => (i % 2 === 1 ? part : printable(part)))
      .join('');
  }

  paint(color: Color, text: string): string {
    return this.#colors ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text;
  }
}

/** Text from other systems must not control the terminal: control characters except line breaks and tabs are shown as in JSON. */
export function printable(text: string): string {
  const controls = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
  return text.replace(controls, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
