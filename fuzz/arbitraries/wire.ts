/** Bytes that no HTTP library sends: wrong lengths, invalid chunks, endless headers, split and pipelined requests. */
import fc from 'fast-check';
import type { Case, Piece } from '../case.ts';
import { value, word } from './hostile.ts';

const HOST = 'Host: {{host}}\r\n';
const EVENT = '{"name":"fuzz/wire","data":{}}';
const JSON_TYPE = 'Content-Type: application/json\r\n';

const target = fc.constantFrom(
  '/e/{{event-key}}',
  '/e/{{hook:everything}}',
  '/auth/sign-in',
  '/v1/runs',
  '/',
  '/sign-in',
  '/fn/register',
);
const start = fc
  .tuple(fc.constantFrom('GET', 'POST', 'PUT', 'HEAD'), target)
  .map(([method, path]) => `${method} ${path} HTTP/1.1\r\n${HOST}`);
const posting = target.map((path) => `POST ${path} HTTP/1.1\r\n${HOST}${JSON_TYPE}`);
const times = fc.constantFrom(2, 100, 1_000, 5_000);
const pause = fc.constantFrom<Piece[]>([], [{ pauseMs: 5 }], [{ pauseMs: 60 }]);

const lengths = fc
  .tuple(
    posting,
    fc.constantFrom(
      '5',
      '-1',
      '0x1e',
      '30, 30',
      '30\r\nContent-Length: 31',
      '99999999999999999999',
      '1e3',
      '+30',
      ' ',
      '30\0',
      '600000',
    ),
  )
  .map(([head, length]): Piece[] => [`${head}Content-Length: ${length}\r\nConnection: close\r\n\r\n${EVENT}`]);

const chunk = fc.constantFrom(
  `1e\r\n${EVENT}\r\n`,
  '1\r\na\r\n',
  '0\r\n\r\n',
  '-1\r\na\r\n',
  'ffffffffffffffff\r\na\r\n',
  '1;ext=1\r\na\r\n',
  `1;${'x'.repeat(5_000)}\r\na\r\n`,
  '1\na\n',
  'g\r\na\r\n',
  '000000000000001\r\na\r\n',
  '1\r\nab\r\n',
  '0\r\nTrailer: x\r\n\r\n',
  '\r\n',
);
const chunks = fc
  .tuple(
    posting,
    fc.constantFrom('chunked', 'gzip, chunked', 'chunked, chunked', 'Chunked', 'identity', 'x'),
    fc.array(chunk, { maxLength: 5 }),
    pause,
  )
  .map(([head, coding, all, rest]): Piece[] => [
    `${head}Transfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n`,
    ...all.flatMap((one) => [one, ...rest]),
  ]);

const manyChunks = fc
  .tuple(posting, times)
  .map(([head, n]): Piece[] => [
    `${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
    { repeat: '1\r\n{\r\n', times: n },
    '0\r\n\r\n',
  ]);

const smuggling = posting.map((head): Piece[] => [
  `${head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/users HTTP/1.1\r\n${HOST}\r\n`,
]);

const bombs = fc
  .tuple(
    start,
    fc.constantFrom('A: b\r\n', 'Cookie: a=b\r\n', 'X: y\r\n z\r\n', ': x\r\n', 'a\r\n', 'X-Service-Env: a\r\n'),
    times,
  )
  .map(([head, header, n]): Piece[] => [head, { repeat: header, times: n }, 'Connection: close\r\n\r\n']);

const longLines = fc
  .tuple(fc.constantFrom('a', '/', '%41', '?a&', '../'), times)
  .map(([text, n]): Piece[] => ['GET /', { repeat: text, times: n }, ` HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`]);

const pipelined = fc
  .tuple(fc.constantFrom('GET /livez', 'GET /sign-in', 'GET /v1/runs'), fc.constantFrom(2, 50, 200))
  .map(([line, n]): Piece[] => [
    { repeat: `${line} HTTP/1.1\r\n${HOST}\r\n`, times: n },
    `GET /livez HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
  ]);

const inPieces = fc.tuple(target, fc.array(fc.nat(60), { minLength: 1, maxLength: 6 })).map(([path, cuts]): Piece[] => {
  const text = `POST ${path} HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: ${EVENT.length}\r\nConnection: close\r\n\r\n${EVENT}`;
  const ends = [...new Set(cuts)].sort((a, b) => a - b);
  const parts = [0, ...ends].map((from, i) => text.slice(from, ends[i] ?? text.length));
  return parts.flatMap((part): Piece[] => [part, { pauseMs: 5 }]);
});

const broken = fc
  .tuple(
    fc.constantFrom(
      'GET / HTTP/1.1',
      'GET / HTTP/2.0',
      'GET / HTTP/0.9',
      'GET /',
      'PRI * HTTP/2.0',
      'CONNECT a:1 HTTP/1.1',
      'GET\t/\tHTTP/1.1',
      '\0\0\0',
      ' GET / HTTP/1.1',
      'G\u00e9T / HTTP/1.1',
    ),
    fc.constantFrom('\r\n', '\n', '\r', '\r\n\r\n\r\n'),
    fc.oneof(
      word,
      value.map((one) => JSON.stringify(one) ?? ''),
    ),
  )
  .map(([line, end, text]): Piece[] => [`${line}${end}${HOST}X: ${text}${end}${end}`]);

const bytes = fc
  .uint8Array({ minLength: 1, maxLength: 500 })
  .map((all): Piece[] => [{ base64: Buffer.from(all).toString('base64') }]);

const half = fc
  .tuple(posting, fc.nat(80))
  .map(([head, at]): Piece[] => [`${head}Content-Length: 500\r\n\r\n${EVENT}`.slice(0, at + 20)]);

const upgrades = start.map((head): Piece[] => [
  `${head}Upgrade: websocket\r\nConnection: Upgrade, close\r\nSec-WebSocket-Key: x\r\n\r\n`,
]);

export const wireCases: fc.Arbitrary<Case> = fc
  .oneof(
    named('lengths', lengths),
    named('chunks', chunks),
    named('many chunks', manyChunks),
    named('smuggling', smuggling),
    named('header bomb', bombs),
    named('long line', longLines),
    named('pipelining', pipelined),
    named('pieces', inPieces),
    named('broken', broken),
    named('bytes', bytes),
    named('half', half),
    named('upgrade', upgrades),
  )
  .map((one): Case => one);

function named(area: string, pieces: fc.Arbitrary<Piece[]>): fc.Arbitrary<Case> {
  return pieces.map((all): Case => ({ kind: 'wire', area: `wire: ${area}`, bytes: all }));
}
