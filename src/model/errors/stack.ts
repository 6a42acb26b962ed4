/** Reads stack traces of JavaScript (V8 in Node and Deno, JavaScriptCore in Bun), Python and Go. Other texts have no frames. */
import { libraryOf, RUNTIME, type StackFrame } from './stack-frame.ts';

export interface Stack {
  /** Text before the first frame: usually name and message. */
  head: string;
  /** Frames in the order of the text. */
  frames: StackFrame[];
  /** The end of the list at which the failing frame is: Python writes it last. undefined if there are no frames. */
  failedIn: 'first' | 'last' | undefined;
}

/** Maximum number of lines read; later frames are omitted. */
const STACK_LINES_MAX = 500;
/** Maximum number of characters read per line. */
const LINE_MAX = 1_000;

const NUMBER = /^\d{1,9}$/;
const PYTHON_FRAME = /^ {2}File "([^"]{1,800})", line (\d{1,9})(?:, in (.{1,200}))?$/;
const GO_OFFSET = / \+0x[\da-f]{1,16}$/;
const GO_HEAD = /^goroutine \d{1,19} \[/;

export function parseStack(text: string): Stack {
  const lines = text.split('\n', STACK_LINES_MAX).map((line) => line.slice(0, LINE_MAX).trimEnd());
  const read = isPython(lines) ? pythonFrames : isGo(lines) ? goFrames : javaScriptFrames;
  const { head, frames } = read(lines);
  const failedIn = frames.length === 0 ? undefined : read === pythonFrames ? 'last' : 'first';
  return { head: head.join('\n').trim(), frames, failedIn };
}

/** The frame of the app's own code in which the error was raised; undefined if there is none. */
export function ownFrameOf({ frames, failedIn }: Stack): StackFrame | undefined {
  const isOwn = ({ library }: StackFrame) => library === undefined;
  return failedIn === 'last' ? frames.findLast(isOwn) : frames.find(isOwn);
}

interface Read {
  head: string[];
  frames: StackFrame[];
}

function isPython(lines: readonly string[]): boolean {
  return lines.some((line) => PYTHON_FRAME.test(line));
}

function isGo(lines: readonly string[]): boolean {
  return lines.some((line) => GO_HEAD.test(line)) || lines.some((line, i) => i > 0 && goLocation(line) !== undefined);
}

function javaScriptFrames(lines: readonly string[]): Read {
  const head: string[] = [];
  const frames: StackFrame[] = [];
  for (const line of lines) {
    const frame = v8Frame(line) ?? javaScriptCoreFrame(line);
    if (frame) frames.push(frame);
    else if (frames.length === 0) head.push(line);
  }
  return { head, frames };
}

/** `    at async charge (file:///app/src/charge.ts:12:9)`, `    at /app/src/charge.ts:12:9` */
function v8Frame(line: string): StackFrame | undefined {
  const text = line.trimStart();
  if (!text.startsWith('at ') || text === line) return undefined;
  const rest = text.slice('at '.length).replace(/^async /, '');
  const open = rest.endsWith(')') ? rest.lastIndexOf(' (') : -1;
  if (open === -1) return frameOf(text, undefined, rest);
  return frameOf(text, rest.slice(0, open), rest.slice(open + ' ('.length, -1));
}

/** `charge@/app/src/charge.ts:12:9` */
function javaScriptCoreFrame(line: string): StackFrame | undefined {
  const at = line.indexOf('@');
  if (at === -1 || /\s/.test(line.slice(0, at))) return undefined;
  const where = line.slice(at + 1);
  if (!locationOf(where) && where !== '[native code]') return undefined;
  return frameOf(line, line.slice(0, at) || undefined, where === '[native code]' ? '' : where);
}

function frameOf(text: string, name: string | undefined, where: string): StackFrame {
  const { file, line, column } = locationOf(where) ?? {};
  if (file === undefined || file.startsWith('eval at '))
    return { text, name: (name ?? where) || undefined, library: RUNTIME };
  return {
    text,
    name: name === '<anonymous>' ? undefined : name,
    file: withoutQuery(file),
    line,
    column,
    library: libraryOf(withoutQuery(file)),
  };
}

/** `<file>:<line>` or `<file>:<line>:<column>` */
function locationOf(where: string): { file: string; line: number; column: number | undefined } | undefined {
  let file = where;
  const numbers: number[] = [];
  while (numbers.length < 2) {
    const colon = file.lastIndexOf(':');
    const last = file.slice(colon + 1);
    if (colon < 1 || !NUMBER.test(last)) break;
    numbers.unshift(Number(last));
    file = file.slice(0, colon);
  }
  const [line, column] = numbers;
  return line === undefined ? undefined : { file, line, column };
}

/** Reloaded modules get a new query, so it is dropped. */
function withoutQuery(file: string): string {
  const path = file.replace(/^file:\/\//, '');
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}

/** Only the last of several chained exceptions counts: the others are its causes. */
function pythonFrames(lines: readonly string[]): Read {
  const start = lines.findLastIndex((line) => line.startsWith('Traceback (most recent call last)'));
  const head: string[] = [];
  const frames: StackFrame[] = [];
  for (const line of lines.slice(start + 1)) {
    const [, file, number, name] = PYTHON_FRAME.exec(line) ?? [];
    const last = frames.at(-1);
    if (file !== undefined) {
      frames.push({ text: line.trimStart(), name, file, line: Number(number), library: libraryOf(file) });
    } else if (last && line.startsWith('    ')) {
      last.text += `\n${line.slice(2)}`;
    } else if (line !== '') {
      head.push(line);
    }
  }
  return { head, frames };
}

/** Two lines a frame: the function, and below it the file. */
function goFrames(lines: readonly string[]): Read {
  const head: string[] = [];
  const frames: StackFrame[] = [];
  for (const [i, line] of lines.entries()) {
    const at = goLocation(line);
    if (!at) {
      if (frames.length === 0 && !goLocation(lines[i + 1] ?? '')) head.push(line);
      continue;
    }
    const call = lines[i - 1] ?? '';
    const arguments_ = call.lastIndexOf('(');
    const name = arguments_ > 0 && call.endsWith(')') ? call.slice(0, arguments_) : call;
    frames.push({
      text: `${call}\n${line}`,
      name: withoutGoroutine(name),
      file: at.file,
      line: at.line,
      library: libraryOf(at.file),
    });
  }
  return { head, frames };
}

/** `created by main.main in goroutine 1` */
function withoutGoroutine(name: string): string {
  const started = name.startsWith('created by ') ? name.slice('created by '.length) : name;
  return started.split(' in goroutine ', 1)[0] as string;
}

/** `\t/app/charge.go:12 +0x1d` */
function goLocation(line: string): { file: string; line: number } | undefined {
  return line.startsWith('\t') ? locationOf(line.slice(1).replace(GO_OFFSET, '')) : undefined;
}
