import { expect } from 'chai';
import type { ProviderDetails } from '../../dashboard/src/api/types.ts';
import { completionsFor } from '../../dashboard/src/pages/webhooks/workbench/completions.ts';
import { parseRequest } from '../../dashboard/src/pages/webhooks/workbench/parse-request.ts';
import { PLAIN, presentId, sampleOfProvider } from '../../dashboard/src/pages/webhooks/workbench/provider-sample.ts';
import { parseQuery } from '../../dashboard/src/pages/webhooks/workbench/sample.ts';
import { parseTransformError } from '../../dashboard/src/pages/webhooks/workbench/transform-error.ts';
import { type Service, startService } from '../support/service.ts';

describe('The workbench: samples of providers', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('the default transform of each provider turns its sample into a complete event', async () => {
    const { data } = (await service.get('/v1/providers')).body;
    expect(data).to.not.be.empty;
    for (const { id } of data as { id: string }[]) {
      const provider: ProviderDetails = (await service.get(`/v1/providers/${id}`)).body.data;
      const { body, headers, query } = sampleOfProvider(provider);
      const { transform } = provider;
      const response = await service.post('/v1/transforms/test', {
        transform,
        body,
        headers,
        query: parseQuery(query),
      });
      expect(response.status, `${id}: ${JSON.stringify(response.body)}`).to.equal(200);
      const { event } = response.body.data;
      expect(event.name, id).to.equal(provider.sample.event_name);
      expect(Object.keys(event.data), id).to.not.be.empty;
      expect(JSON.stringify([event.name, event.id ?? '']), id).to.not.match(/undefined|null/);
    }
  });

  it('links to former templates open the sample that replaced them', () => {
    expect([presentId('json'), presentId('signed'), presentId('stripe')]).to.deep.equal([PLAIN, 'hmac', 'stripe']);
  });
});

describe('The workbench: parseRequest', () => {
  it('reads JSON and form data as a request body', () => {
    const { kind, sample } = parseRequest('  {"a": 1}\n');
    expect(kind).to.equal('request body');
    expect(sample).to.deep.equal({ body: '{"a": 1}', headers: { 'Content-Type': 'application/json' }, query: '' });
    expect(parseRequest('From=%2B49&Body=hi').sample.headers['Content-Type']).to.equal(
      'application/x-www-form-urlencoded',
    );
  });

  it('reads an HTTP request with canonical headers and its query', () => {
    const { kind, sample } = parseRequest(
      'POST /e/key?src=a&src=b HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\nContent-Type: application/json\r\n\r\n{"n": 1}\r\n',
    );
    expect(kind).to.equal('HTTP request');
    expect(sample).to.deep.equal({
      body: '{"n": 1}',
      headers: { 'Content-Type': 'application/json', 'X-Github-Event': 'push' },
      query: 'src=a&src=b',
    });
  });

  it('reads headers and a body without a request line', () => {
    const { kind, sample } = parseRequest('X-A: 1\nX-B: 2\n\nbody: not a header');
    expect(kind).to.equal('HTTP request');
    expect(sample.headers).to.include({ 'X-A': '1', 'X-B': '2' });
    expect(sample.body).to.equal('body: not a header');
  });

  it('reads a curl command with shell quoting', () => {
    const { kind, sample } = parseRequest(`$ curl -sS -X POST "https://h.example/e/key?x-service-env=b1" \\
      -H 'X-GitHub-Event: issues' -HContent-Type:application/json \\
      --data-raw '{"title":"it'\\''s","path":"C:\\\\x"}'`);
    expect(kind).to.equal('curl command');
    expect(sample).to.deep.equal({
      body: '{"title":"it\'s","path":"C:\\\\x"}',
      headers: { 'Content-Type': 'application/json', 'X-Github-Event': 'issues' },
      query: 'x-service-env=b1',
    });
  });

  it('reads a curl command copied from a browser, and a curl command that sends a form', () => {
    expect(parseRequest(`curl 'https://h/e' --data-raw $'{"a":"\\u0021\\n"}'`).sample.body).to.equal('{"a":"!\n"}');
    const form = parseRequest('curl https://h/e -d From=a -d Body=b').sample;
    expect(form.body).to.equal('From=a&Body=b');
    expect(form.headers['Content-Type']).to.equal('application/x-www-form-urlencoded');
  });
});

describe('The workbench: completions', () => {
  const sample = {
    body: '{"repository": {"full_name": "a/b"}, "commits": [{"id": "c1"}], "odd-key": 1}',
    headers: { 'x-github-event': 'push' },
    query: 'src=a&src=b',
  };
  const offered = (code: string) => completionsFor(code, sample).map(({ label }) => label);

  it('offers the arguments and every path in the sample', () => {
    expect(offered('function transform(evt, headers, queryParams, raw) {}')).to.include.members([
      'raw',
      'evt.repository.full_name',
      'evt.commits[0].id',
      'evt["odd-key"]',
      'headers["X-Github-Event"]',
      'queryParams.src[0]',
    ]);
  });

  it('uses the parameter names of the function', () => {
    expect(offered('const transform = (body, h = {}) => null')).to.include.members([
      'body.repository.full_name',
      'h["X-Github-Event"]',
      'raw',
    ]);
  });
});

describe('The workbench: errors of transforms', () => {
  const titleOf = (message: string) => {
    return parseTransformError(Object.assign(new Error(message), { code: 'transform_invalid' })).title;
  };

  it('distinguishes code that cannot be parsed from code that throws outside the function', () => {
    expect(titleOf("The transform does not compile: line 1: SyntaxError: Unexpected token '{'")).to.equal(
      'Syntax error',
    );
    expect(titleOf('The transform does not compile: line 1: ReferenceError: evt is not defined')).to.equal(
      'Error outside the function',
    );
  });
});
