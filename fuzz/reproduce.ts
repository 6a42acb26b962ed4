/** How to do it again by hand. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodyOf, type Case, filled, type HttpCase, type Names, wireOf } from './case.ts';

/** A longer body is written to a file. */
const INLINE_BYTES = 1_024;
/** No shell is given more than this in a line. */
const LINE_CHARS = 2_000;

/** A command for a shell: curl, or where a line would be too long, or is no request, nc.
 *  @param label part of the name of the file that a large body is written to */
export function reproductionCommand(one: Case, names: Names, label: string): string {
  const file = join(tmpdir(), `tidegate-fuzz-${label}.bin`);
  if (one.kind === 'wire' || lineLength(one) > LINE_CHARS) {
    writeFileSync(file, Buffer.concat(wireOf(one, names).filter((part) => typeof part !== 'number')));
    return `nc ${names.host?.replace(':', ' ')} < ${file}`;
  }
  const headers = one.headers.map(([name, value]) => `-H ${quoted(`${name}: ${filled(value, names)}`)}`);
  const url = quoted(`http://${names.host}${filled(one.target, names)}`);
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
