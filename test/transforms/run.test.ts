import { expect } from 'chai';
import { edited, errorOf, fieldsOf, REQUEST, returning, shared, webhook, withTransforms } from './support.ts';

describe('Transforms', () => {
  const transforms = shared();

  it('get the body, the headers, the query and the raw body', async () => {
    const { returned: event } = await transforms.run(
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

  it('get an empty object when there is no body', async () => {
    const { returned: event } = await transforms.run(
      webhook('function transform(evt = {}, headers = {}, queryParams = {}) { return { evt, headers, queryParams } }'),
      { ...REQUEST, body: undefined },
    );
    expect(event).to.deep.equal({ evt: {}, headers: {}, queryParams: {} });
  });

  it('get the raw body parsed when it is JSON, and otherwise an empty object', async () => {
    const echo = returning('return { evt }');
    for (const [raw, evt] of [
      ['{"a": "ü"}', { a: 'ü' }],
      ['null', null],
      ['7', 7],
      ['{"a": 1', {}],
      ['a=1', {}],
    ] as const) {
      const { returned } = await transforms.run(echo, { ...REQUEST, body: undefined, raw });
      expect(returned, raw).to.deep.equal({ evt });
    }
  });

  it('get a body that is null, a string or an array unchanged', async () => {
    const echo = returning('return { evt }');
    for (const body of [null, 'text', [1, 2]]) {
      expect((await transforms.run(echo, { ...REQUEST, body })).returned).to.deep.equal({ evt: body });
    }
  });

  for (const code of [
    'function transform() { return { name: "made" } }',
    'async function transform() { await null; return { name: "made" } }',
    'const transform = () => ({ name: "made" })',
    'let transform = async () => ({ name: "made" })',
    'var transform = function () { return Promise.resolve({ name: "made" }) }',
  ]) {
    it(`can be written as ${code.slice(0, code.indexOf('{'))}…`, async () => {
      expect((await transforms.run(webhook(code))).returned).to.deep.equal({ name: 'made' });
    });
  }

  it('can return null to ignore the request', async () => {
    expect((await transforms.run(returning('return null'))).returned).to.equal(null);
  });

  it('return an event as JSON', async () => {
    const made = 'return { data: { at: new Date(0), none: undefined, not: NaN, ["__proto__"]: 1 } }';
    const { returned: event, durationMs } = await transforms.run(returning(made));
    expect(JSON.stringify(event)).to.equal('{"data":{"at":"1970-01-01T00:00:00.000Z","not":null,"__proto__":1}}');
    expect(durationMs).to.be.greaterThan(0);
  });

  it('run their new code as soon as they are edited', async () => {
    const first = returning('return { name: "first" }');
    expect((await transforms.run(first)).returned).to.deep.equal({ name: 'first' });
    const second = edited(first, 'const transform = () => ({ name: "second" })');
    expect((await transforms.run(second)).returned).to.deep.equal({ name: 'second' });
  });

  it('start from their first line for each request: variables do not survive', async () => {
    const counting = webhook('let uses = 0; const transform = () => ({ uses: ++uses })');
    const seen: unknown[] = [];
    await withTransforms({ threads: 1, limits: { usesPerIsolate: 3 } }, async (transforms) => {
      for (let i = 0; i < 5; i += 1) seen.push(fieldsOf(await transforms.run(counting, REQUEST)).uses);
    });
    expect(seen).to.deep.equal([1, 1, 1, 1, 1]);
  });
});

describe('Logs of a transform', () => {
  const transforms = shared();

  it('come with the outcome, with their levels', async () => {
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

  it('contain only the lines of one request', async () => {
    const logging = returning('console.log(evt.n); return null');
    for (const n of ['1', '2']) {
      const { logs } = await transforms.run(logging, { ...REQUEST, body: { n } });
      expect(logs).to.deep.equal([{ level: 'log', text: n }]);
    }
  });

  it('are truncated after 100 lines, with a last line that says so', async () => {
    const { logs } = await transforms.run(
      returning('for (let i = 0; i < 500; i++) console.log("line " + i); return null'),
      REQUEST,
    );
    expect(logs).to.have.length(101);
    expect(logs[99]).to.deep.equal({ level: 'log', text: 'line 99' });
    expect(logs[100]?.text).to.contain('truncated');
  });

  it('are truncated after 16 KiB, with a last line that says so', async () => {
    const { logs } = await transforms.run(
      returning('for (let i = 0; i < 5; i++) console.log("x".repeat(10000)); return null'),
      REQUEST,
    );
    expect(logs.map(({ text }) => text.length)).to.have.ordered.members([10_000, 6_384, logs[2]?.text.length]);
    expect(logs[2]?.text).to.contain('truncated');
  });

  it('come with an error too', async () => {
    const error = await errorOf(transforms.run(returning('console.log("so far"); throw new Error("no")')));
    expect(error.facts?.logs).to.deep.equal([{ level: 'log', text: 'so far' }]);
  });
});
