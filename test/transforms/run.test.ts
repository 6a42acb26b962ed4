import { expect } from 'chai';
import { edited, REQUEST, refusal, returning, shared, webhook, withTransforms } from './support.ts';

describe('a transform', function () {
  this.timeout(10_000);
  const transforms = shared();

  it('is given the body, the headers, the query and the raw body', async () => {
    const { event } = await transforms.run(
      returning('return { name: "seen", data: { evt, headers, queryParams, raw } }'),
      {
        body: { a: [1, { b: null }] },
        headers: { 'X-Hub-Signature': 's' },
        query: { tag: ['one', 'two'] },
        raw: '{"a": [1, {"b": null}]} “ü”',
      },
    );
    expect(event).to.deep.equal({
      name: 'seen',
      data: {
        evt: { a: [1, { b: null }] },
        headers: { 'X-Hub-Signature': 's' },
        queryParams: { tag: ['one', 'two'] },
        raw: '{"a": [1, {"b": null}]} “ü”',
      },
    });
  });

  it('is given an empty object when there is no body', async () => {
    const { event } = await transforms.run(
      webhook('function transform(evt = {}, headers = {}, queryParams = {}) { return { evt, headers, queryParams } }'),
      { ...REQUEST, body: undefined },
    );
    expect(event).to.deep.equal({ evt: {}, headers: {}, queryParams: {} });
  });

  it('is given a body that is null, a string or an array as it is', async () => {
    const echo = returning('return { evt }');
    for (const body of [null, 'text', [1, 2]]) {
      expect((await transforms.run(echo, { ...REQUEST, body })).event).to.deep.equal({ evt: body });
    }
  });

  for (const code of [
    'function transform() { return { name: "made" } }',
    'async function transform() { await null; return { name: "made" } }',
    'const transform = () => ({ name: "made" })',
    'let transform = async () => ({ name: "made" })',
    'var transform = function () { return Promise.resolve({ name: "made" }) }',
  ]) {
    it(`may be written as ${code.slice(0, code.indexOf('{'))}…`, async () => {
      expect((await transforms.run(webhook(code))).event).to.deep.equal({ name: 'made' });
    });
  }

  it('may return null for nothing', async () => {
    expect((await transforms.run(returning('return null'))).event).to.equal(null);
  });

  it('has its event read as JSON has it', async () => {
    const made = 'return { data: { at: new Date(0), none: undefined, not: NaN, ["__proto__"]: 1 } }';
    const { event, durationMs } = await transforms.run(returning(made));
    expect(JSON.stringify(event)).to.equal('{"data":{"at":"1970-01-01T00:00:00.000Z","not":null,"__proto__":1}}');
    expect(durationMs).to.be.greaterThan(0);
  });

  it('runs as it is now as soon as it is edited', async () => {
    const first = returning('return { name: "first" }');
    expect((await transforms.run(first)).event).to.deep.equal({ name: 'first' });
    const second = edited(first, 'const transform = () => ({ name: "second" })');
    expect((await transforms.run(second)).event).to.deep.equal({ name: 'second' });
  });

  it('starts from its first line with each request: no variable of one is there for the next', async () => {
    const counting = webhook('let uses = 0; const transform = () => ({ uses: ++uses })');
    const seen: unknown[] = [];
    await withTransforms({ threads: 1, limits: { usesPerIsolate: 3 } }, async (transforms) => {
      for (let i = 0; i < 5; i += 1) seen.push((await transforms.run(counting, REQUEST)).event?.uses);
    });
    expect(seen).to.deep.equal([1, 1, 1, 1, 1]);
  });
});

describe('what a transform logs', function () {
  this.timeout(10_000);
  const transforms = shared();

  it('comes with its outcome, level by level', async () => {
    const { logs } = await transforms.run(
      returning(`console.log('a', 1, { b: [2] }, undefined, null, 3n, Symbol('s')); console.info(new TypeError('c'));
        console.warn('d'); console.error('e'); console.debug('f'); return null`),
      REQUEST,
    );
    expect(logs).to.deep.equal([
      { level: 'log', text: 'a 1 {"b":[2]} undefined null 3 Symbol(s)' },
      { level: 'info', text: 'TypeError: c' },
      { level: 'warn', text: 'd' },
      { level: 'error', text: 'e' },
      { level: 'debug', text: 'f' },
    ]);
  });

  it('is not mixed with what it logged for another request', async () => {
    const logging = returning('console.log(evt.n); return null');
    for (const n of ['1', '2']) {
      const { logs } = await transforms.run(logging, { ...REQUEST, body: { n } });
      expect(logs).to.deep.equal([{ level: 'log', text: n }]);
    }
  });

  it('is kept up to 100 lines, and a last line says that it was cut', async () => {
    const { logs } = await transforms.run(
      returning('for (let i = 0; i < 500; i++) console.log("line " + i); return null'),
      REQUEST,
    );
    expect(logs).to.have.length(101);
    expect(logs[99]).to.deep.equal({ level: 'log', text: 'line 99' });
    expect(logs[100]?.text).to.contain('cut');
  });

  it('is kept up to 16 KiB, and a last line says that it was cut', async () => {
    const { logs } = await transforms.run(
      returning('for (let i = 0; i < 5; i++) console.log("x".repeat(10000)); return null'),
      REQUEST,
    );
    expect(logs.map(({ text }) => text.length)).to.have.ordered.members([10_000, 6_384, logs[2]?.text.length]);
    expect(logs[2]?.text).to.contain('cut');
  });

  it('comes with its error too', async () => {
    const error = await refusal(transforms.run(returning('console.log("so far"); throw new Error("no")')));
    expect(error.facts?.logs).to.deep.equal([{ level: 'log', text: 'so far' }]);
  });
});
