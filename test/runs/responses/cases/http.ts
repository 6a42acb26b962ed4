/** Responses that are broken below the body. */
import { gzipSync } from 'node:zlib';
import { failedAfterRetry, type HostileResponse, many, wire } from './entry.ts';

export const HTTP: readonly HostileResponse[] = [
  {
    name: 'no sdk header',
    respond: () => ({ headers: { 'x-service-sdk': undefined } }),
    must: failedAfterRetry('AppError', 'sdk header'),
  },
  {
    name: '300 headers',
    respond: () => ({ headers: Object.fromEntries(many(300, () => ({})).map((_, n) => [`x-${n}`, '1'])) }),
    must: failedAfterRetry('TooManyHeaders', 'more than 200'),
  },
  {
    name: 'headers of 40 KB',
    respond: () => ({ headers: { 'x-large': 'x'.repeat(40_000) } }),
    must: failedAfterRetry('HeadersTooLarge'),
  },
  {
    name: 'retry-after twice',
    respond: () =>
      wire(
        'HTTP/1.1 500 No',
        'x-service-sdk: test:v1.0.0',
        'connection: close',
        'retry-after: 1',
        'retry-after: 2',
        'content-length: 2',
        '',
        '{}',
      ),
    must: failedAfterRetry('Error', 'status 500'),
  },
  {
    name: 'a redirect to the service itself',
    respond: () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    must: failedAfterRetry('Error', 'status 302'),
  },
  {
    name: 'a compressed body',
    respond: () => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync('{}') }),
    must: failedAfterRetry('AppError', 'encoded (gzip)'),
  },
  { name: 'a closed connection without a response', respond: () => 'hang up', must: failedAfterRetry('CallError') },
  {
    name: 'half of the announced body',
    respond: () => wire('HTTP/1.1 200 OK', 'x-service-sdk: test:v1.0.0', 'content-length: 100', '', '{"half":'),
    must: failedAfterRetry('CallError'),
  },
  {
    name: 'invalid chunks',
    respond: () =>
      wire('HTTP/1.1 200 OK', 'x-service-sdk: test:v1.0.0', 'transfer-encoding: chunked', '', 'zz', 'null'),
    must: failedAfterRetry('CallError'),
  },
  { name: 'bytes that are not HTTP', respond: () => wire('+OK', '$-1', ''), must: failedAfterRetry('CallError') },
  {
    name: 'both a length and chunks',
    respond: () =>
      wire(
        'HTTP/1.1 200 OK',
        'x-service-sdk: test:v1.0.0',
        'content-length: 4',
        'transfer-encoding: chunked',
        '',
        '4',
        'null',
        '0',
        '',
        '',
      ),
    must: failedAfterRetry('CallError'),
  },
  {
    name: 'dozens of early hints before the response',
    respond: () =>
      wire(
        ...many(24, () => ({})).flatMap(() => ['HTTP/1.1 103 Early Hints', 'link: </x>', '']),
        'HTTP/1.1 200 OK',
        'x-service-sdk: test:v1.0.0',
        'connection: close',
        'content-length: 7',
        '',
        '"after"',
      ),
    must: { status: 'Completed', calls: 1, output: 'after' },
  },
];
