import { expect } from 'chai';
import { bodyOf, resultOfEndpoint } from '../../src/model/runs/endpoint-response.ts';

const resultOf = (given: unknown) => resultOfEndpoint(JSON.stringify(given));
const JSON_TYPE = { 'content-type': 'application/json' };

describe('The response of an endpoint', () => {
  for (const [what, body, headers, output] of [
    ['is the JSON of its body', '{"paid": 12345678901234567890}', JSON_TYPE, '{"paid": 12345678901234567890}'],
    ['is the JSON of a body without a content type', '[1]', {}, '[1]'],
    ['is the text of its body', '<p>1</p>', { 'Content-Type': 'text/html' }, '"<p>1</p>"'],
    ['is text that looks like JSON', '1', { 'content-type': 'text/plain' }, '"1"'],
    ['is the text of a body that only says it is JSON', '{', JSON_TYPE, '"{"'],
    ['is the text of a body that is nested too deeply', '['.repeat(501) + ']'.repeat(501), JSON_TYPE, undefined],
    ['is nothing without a body', '', JSON_TYPE, 'null'],
  ] as const) {
    it(`has an output that ${what}, and its body again`, () => {
      const result = resultOf({ status: 201, headers, body, version: 2 });
      expect(result.output).to.equal(output ?? JSON.stringify(body));
      expect(result.response?.status).to.equal(201);
      expect(result.response && bodyOf(result.response, result.output)).to.equal(body);
    });
  }

  it('keeps only headers that cannot harm the origin of the service', () => {
    const kept = { 'content-type': 'text/plain', location: 'https://shop.example.com/', 'x-total': '3' };
    const dropped = {
      'Set-Cookie': 'session=1',
      'Content-Security-Policy': "default-src 'unsafe-inline'",
      'Access-Control-Allow-Credentials': 'true',
      'Clear-Site-Data': '"*"',
      'Service-Worker-Allowed': '/',
      'Strict-Transport-Security': 'max-age=0',
      'WWW-Authenticate': 'Basic',
      'Cache-Control': 'public, max-age=31536000',
      Connection: 'close',
      'Transfer-Encoding': 'chunked',
      'Content-Length': '5',
      'Content-Encoding': 'gzip',
      'X-Accel-Redirect': '/etc/passwd',
      'X-Frame-Options': 'ALLOWALL',
      'x-split': 'a\r\nset-cookie: b=1',
      'x-long': 'x'.repeat(2_000),
      'x-number': 5,
    };
    expect(resultOf({ status: 200, headers: { ...dropped, ...kept }, body: 'x' }).response?.headers).to.deep.equal(
      kept,
    );
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`x-${n}`, '']));
    expect(Object.keys(resultOf({ status: 200, headers: many }).response?.headers ?? {})).to.have.length(50);
  });

  it('is read from nothing else that a handler reports', () => {
    for (const other of [null, 5, 'text', [200], {}, { status: '200' }, { status: 99 }, { status: 200, body: {} }]) {
      expect(resultOf(other)).to.deep.equal({ output: JSON.stringify(other) });
    }
  });
});
