/** The lines of code around the place where an error was thrown, for people who look at the run (docs/protocol.md#answers). */
import { frameOf, ownFrames, type StackFrame } from './stack-frames.ts';

export interface ErrorSource {
  /** Relative to the directory in which the process runs, or a whole path. */
  file: string;
  line: number;
  lines: { line: number; text: string }[];
}

const NEIGHBORS = 2;
const MAX_LINE_LENGTH = 200;
const MAX_FILE_LENGTH = 500;
/** A larger file is a bundle: its lines do not help anybody, and it takes long to read. */
const MAX_FILE_BYTES = 1_048_576;
/** Number of frames whose files are tried; the first readable file counts. */
const MAX_FRAMES = 5;

/** The source at the first frame of the app's own code whose file can be read; with source maps switched on
 *  (`node --enable-source-maps`) stacks name the original files. Never throws. */
export function sourceOf(stack: unknown): ErrorSource | undefined {
  if (typeof stack !== 'string') return undefined;
  try {
    for (const frame of ownFrames(stack, HERE).slice(0, MAX_FRAMES)) {
      const source = readSource(frame);
      if (source) return source;
    }
  } catch {
    // A file that cannot be read is left out: the error itself matters more.
  }
  return undefined;
}

function readSource({ file, line }: StackFrame): ErrorSource | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  const all = text.split('\n');
  if (line > all.length) return undefined;
  const first = Math.max(1, line - NEIGHBORS);
  const lines = all.slice(first - 1, line + NEIGHBORS).map((one, i) => ({ line: first + i, text: shortened(one) }));
  return { file: relative(file).slice(0, MAX_FILE_LENGTH), line, lines };
}

/** Runtimes without a file system, or without this function, have no source. */
function readText(file: string): string | undefined {
  const fs = typeof process === 'object' ? process.getBuiltinModule?.('node:fs') : undefined;
  const found = fs?.statSync(file, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= MAX_FILE_BYTES ? fs?.readFileSync(file, 'utf8') : undefined;
}

function relative(file: string): string {
  const root = `${process.cwd()}/`;
  return file.startsWith(root) ? file.slice(root.length) : file;
}

function shortened(line: string): string {
  const text = line.trimEnd();
  return text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH - 1)}…` : text;
}

/** The folder of this package, whose frames do not belong to the app; undefined in a bundle, where both are one file. */
const HERE = folderOf(frameOf(new Error().stack?.split('\n')[1] ?? '')?.file);

function folderOf(file: string | undefined): string | undefined {
  return file && /\/error-source\.[jt]s$/.test(file) ? file.slice(0, file.lastIndexOf('/') + 1) : undefined;
}
