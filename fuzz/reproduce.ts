/** Shell commands that reproduce a case. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodyOf, type Case, fillNames, type HttpCase, headersOf, type Names, socketWrites } from './case.ts';

/** Longer bodies go to a file. */
const INLINE_BYTES = 1_024;
/** Longer commands become `nc` with a file. */
const LINE_CHARS = 2_000;

/** A curl command; nc for long requests and raw bytes.
 *  @param label part of the name of the file for a large body */
export function reproductionCommand(one: Case, names: Names, label: string): string {
  const file = join(tmpdir(), `tidegate-fuzz-${label}.bin`);
  if (one.kind === 'wire' || lineLength(one) > LINE_CHARS) {
    writeFileSync(file, Buffer.concat(socketWrites(one, names).filter((part) => typeof part !== 'number')));
    return `nc ${names.host?.replace(':', ' ')} < ${file}`;
  }
  const headers = headersOf(one, bodyOf(one, names), names).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const url = quoted(`http://${names.host}${fillNames(one.target, names)}`);
  return ['curl -sS -i --path-as-is -g -X', one.method, url, ...headers, ...data()].join(' ');

  function data(): string[] {
    if (one.kind === 'wire' || one.body === undefined) return [];
    const body = bodyOf(one, names);
    const text = body.toString('utf8');
    if (body.length <= INLINE_BYTES && !/[\0\ufffd]/.test(text)) return [`--data-binary ${quoted(text)}`];
    writeFileSync(file, body);
    return [`--data-binary @${file}`];
  }
}

function lineLength({ target, headers }: HttpCase): number {
  return headers.flat().reduce((sum, { length }) => sum + length, target.length);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
