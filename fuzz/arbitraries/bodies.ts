/** Request bodies: valid JSON, invalid JSON, both form encodings, and binary data. */
import fc from 'fast-check';
import type { Piece } from '../case.ts';
import { value, word } from './hostile.ts';

export type Body = { pieces: Piece[]; contentType: string };

const times = fc.constantFrom(3, 499, 501, 1_001, 5_000, 20_000, 100_000, 250_000);

/** Replacements for a value in JSON text that no serializer writes. */
const oddities: fc.Arbitrary<Piece[]> = fc.oneof(
  times.map((n) => [
    { repeat: '[', times: n },
    { repeat: ']', times: n },
  ]),
  times.map((n) => [{ repeat: '{"a":', times: n }, '1', { repeat: '}', times: n }]),
  times.map((n) => [{ repeat: '[', times: n }]),
  times.map((n) => ['[', { repeat: '[],', times: n }, '0]']),
  times.map((n) => ['{', { repeat: '"a":1,', times: n }, '"a":2}']),
  times.map((n) => ['"', { repeat: 'a', times: n }, '"']),
  times.map((n) => ['"', { repeat: '\\u0000', times: n }, '"']),
  times.map((n) => ['"', { repeat: '\\ud800', times: n }, '"']),
  times.map((n) => ['1', { repeat: '0', times: n }]),
  times.map((n) => ['0.', { repeat: '9', times: n }, 'e-5']),
  times.map((n) => ['[', { repeat: '1234567890123456789,', times: n }, '1]']),
  times.map((n) => [{ repeat: ' ', times: n }, '1']),
  fc.constantFrom<Piece[]>(
    ['{"__proto__":{"polluted":true}}'],
    ['{"constructor":{"prototype":{"polluted":true}}}'],
    ['1e400'],
    ['-'],
    ['nul'],
    ['{"a":1,}'],
    ["{'a':1}"],
    ['{"a":1}{"b":2}'],
    ['/**/1'],
    ['"\u2028"'],
    ['"a\nb"'],
    [{ base64: '//4A' }],
    [{ base64: 'wIA=' }],
    [{ base64: '7aCA' }],
  ),
);

/** JSON text of the values, sometimes with an invalid part. */
export function jsonBody(values: fc.Arbitrary<unknown>): fc.Arbitrary<Piece[]> {
  const plain = values.map((one): Piece[] => [JSON.stringify(one) ?? '']);
  const around = fc
    .tuple(values, oddities, fc.constantFrom('data', 'x', '__proto__', 'id', 'name'))
    .map(([one, odd, key]): Piece[] => {
      const text = JSON.stringify(one) ?? '';
      if (!text.endsWith('}')) return ['[', text, ',', ...odd, ']'];
      return [text.slice(0, -1), text === '{}' ? '' : ',', `${JSON.stringify(key)}:`, ...odd, '}'];
    });
  const cut = fc.tuple(values, fc.nat(200)).map(([one, at]): Piece[] => [(JSON.stringify(one) ?? '').slice(0, at)]);
  return fc.oneof(
    { weight: 6, arbitrary: plain },
    { weight: 3, arbitrary: around },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: oddities },
    { weight: 1, arbitrary: plain.map((pieces) => ['\ufeff', ...pieces]) },
  );
}

export const JSON_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'APPLICATION/JSON',
  'application/vnd.a+json',
] as const;

export const contentType: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...JSON_TYPES,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=b',
    'multipart/form-data',
    'application/octet-stream',
    ';;;',
    '+json',
  ),
  word,
);

const form: fc.Arbitrary<Piece[]> = fc.oneof(
  fc
    .array(fc.tuple(word, word), { maxLength: 5 })
    .map((pairs): Piece[] => [pairs.map((pair) => pair.map(encoded).join('=')).join('&')]),
  fc
    .tuple(fc.constantFrom('a&', 'a=1&', '&', '=', '%', '%41&', '%zz&', 'a[]=1&', '__proto__=1&', '+'), times)
    .map(([text, n]): Piece[] => [{ repeat: text, times: n }]),
);

const part = fc
  .tuple(word, fc.constantFrom('', '; filename="a.txt"', "; filename*=UTF-8''%ff"), word)
  .map(
    ([name, file, content]) =>
      `--b\r\nContent-Disposition: form-data; name="${name.replace(/["\r\n]/g, '')}"${file}\r\n\r\n${content}\r\n`,
  );

const multipart: fc.Arbitrary<Piece[]> = fc.oneof(
  fc.array(part, { maxLength: 4 }).map((parts): Piece[] => [`${parts.join('')}--b--\r\n`]),
  fc.tuple(part, times).map(([one, n]): Piece[] => [{ repeat: one, times: Math.min(n, 5_000) }, '--b--\r\n']),
  times.map((n): Piece[] => ['--b\r\n', { repeat: 'A: b\r\n', times: n }, '\r\n\r\n--b--\r\n']),
  times.map((n): Piece[] => [
    '--b\r\nContent-Disposition: form-data; name="',
    { repeat: '\\"', times: n },
    '"\r\n\r\nx\r\n--b--',
  ]),
  times.map((n): Piece[] => [{ repeat: '--b', times: n }]),
  times.map((n): Piece[] => [{ repeat: '\r\n--', times: n }]),
);

const bytes: fc.Arbitrary<Piece[]> = fc
  .uint8Array({ maxLength: 300 })
  .map((all): Piece[] => [{ base64: Buffer.from(all).toString('base64') }]);

/** Any body that a webhook provider may send. */
export const anyBody: fc.Arbitrary<Body> = fc.oneof(
  fc.record({ pieces: jsonBody(value), contentType: fc.constantFrom(...JSON_TYPES) }),
  fc.record({ pieces: form, contentType: fc.constant('application/x-www-form-urlencoded') }),
  fc.record({ pieces: multipart, contentType: fc.constant('multipart/form-data; boundary=b') }),
  fc.record({ pieces: fc.oneof(form, multipart, bytes, jsonBody(value)), contentType }),
);

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
