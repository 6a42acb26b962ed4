import { expect } from 'chai';
import { TEMPLATES } from '../../dashboard/src/pages/webhooks/templates/templates.ts';
import { completionsFor } from '../../dashboard/src/pages/webhooks/workbench/completions.ts';
import { readPasted } from '../../dashboard/src/pages/webhooks/workbench/pasted.ts';
import { queryLists } from '../../dashboard/src/pages/webhooks/workbench/sample.ts';
import { type Service, startService } from '../support/service.ts';

describe("the workbench's templates", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const { label, transform, sample } of TEMPLATES) {
    it(`${label}: makes an event with nothing missing of the provider's own sample`, async () => {
      const { body, headers, query } = sample;
      const answer = await service.post('/v1/transforms/test', { transform, body, headers, query: queryLists(query) });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const { event } = answer.body.data;
      expect(event.name).to.match(/^[a-z]+\/[a-z_.]+$/);
      expect(Object.keys(event.data)).to.not.be.empty;
      expect(JSON.stringify([event.name, event.id ?? ''])).to.not.match(/undefined|null/);
      if ('sig' in event.data)
        expect(event.data).to.include({ raw: body }).and.have.property('sig').that.is.a('string');
    });
  }
});

describe('a request pasted into the workbench', () => {
  it('is read as a body when it is one', () => {
    const { kind, sample } = readPasted('  {"a": 1}\n');
    expect(kind).to.equal('a body');
    expect(sample).to.deep.equal({ body: '{"a": 1}', headers: { 'Content-Type': 'application/json' }, query: '' });
    expect(readPasted('From=%2B49&Body=hi').sample.headers['Content-Type']).to.equal(
      'application/x-www-form-urlencoded',
    );
  });

  it('is read as a whole request by its first line, headers canonicalised and the query taken from the target', () => {
    const { kind, sample } = readPasted(
      'POST /e/key?src=a&src=b HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\nContent-Type: application/json\r\n\r\n{"n": 1}\r\n',
    );
    expect(kind).to.equal('a whole request');
    expect(sample).to.deep.equal({
      body: '{"n": 1}',
      headers: { 'Content-Type': 'application/json', 'X-Github-Event': 'push' },
      query: 'src=a&src=b',
    });
  });

  it('is read as headers and body where the first line is left out', () => {
    const { kind, sample } = readPasted('X-A: 1\nX-B: 2\n\nbody: not a header');
    expect(kind).to.equal('a whole request');
    expect(sample.headers).to.include({ 'X-A': '1', 'X-B': '2' });
    expect(sample.body).to.equal('body: not a header');
  });

  it('is read as a curl command as a shell reads it', () => {
    const { kind, sample } = readPasted(`$ curl -sS -X POST "https://h.example/e/key?x-service-env=b1" \\
      -H 'X-GitHub-Event: issues' -HContent-Type:application/json \\
      --data-raw '{"title":"it'\\''s","path":"C:\\\\x"}'`);
    expect(kind).to.equal('a curl command');
    expect(sample).to.deep.equal({
      body: '{"title":"it\'s","path":"C:\\\\x"}',
      headers: { 'Content-Type': 'application/json', 'X-Github-Event': 'issues' },
      query: 'x-service-env=b1',
    });
  });

  it('may be a command as browsers copy it, and one that sends a form', () => {
    expect(readPasted(`curl 'https://h/e' --data-raw $'{"a":"\\u0021\\n"}'`).sample.body).to.equal('{"a":"!\n"}');
    const form = readPasted('curl https://h/e -d From=a -d Body=b').sample;
    expect(form.body).to.equal('From=a&Body=b');
    expect(form.headers['Content-Type']).to.equal('application/x-www-form-urlencoded');
  });
});

describe("the editor's completion", () => {
  const sample = {
    body: '{"repository": {"full_name": "a/b"}, "commits": [{"id": "c1"}], "odd-key": 1}',
    headers: { 'x-github-event': 'push' },
    query: 'src=a&src=b',
  };
  const offered = (code: string) => completionsFor(code, sample).map(({ label }) => label);

  it('offers the arguments and every path that is in the sample', () => {
    expect(offered('function transform(evt, headers, queryParams, raw) {}')).to.include.members([
      'raw',
      'evt.repository.full_name',
      'evt.commits[0].id',
      'evt["odd-key"]',
      'headers["X-Github-Event"]',
      'queryParams.src[0]',
    ]);
  });

  it("goes by the function's own names of its arguments", () => {
    expect(offered('const transform = (body, h = {}) => null')).to.include.members([
      'body.repository.full_name',
      'h["X-Github-Event"]',
      'raw',
    ]);
  });
});
