import { expect } from 'chai';
import { errorOf, fieldsOf, REQUEST, returning, shared, webhook } from './support.ts';

describe('Errors of a transform', () => {
  const transforms = shared();

  const transformError = (code: string, body: unknown = {}) =>
    errorOf(transforms.run(webhook(code), { ...REQUEST, body }));

  it('name the line and column of the throw', async () => {
    const error = await transformError('// first line\nfunction transform(evt) {\n  return evt.data.id;\n}');
    expect(error.code).to.equal('transform_failed');
    expect(error.status).to.equal(400);
    expect(error.message).to.contain("line 3: TypeError: Cannot read properties of undefined (reading 'id')");
    expect(error.facts).to.deep.equal({
      message: "TypeError: Cannot read properties of undefined (reading 'id')",
      line: 3,
      column: 19,
    });
  });

  it('name the line where a function that it calls threw', async () => {
    const error = await transformError(
      'function parse(text) {\n  return JSON.parse(text);\n}\nconst transform = () => parse("{");',
    );
    expect(error.message).to.contain('line 2: SyntaxError');
  });

  it('name the line of a rejection', async () => {
    const error = await transformError(
      'async function transform() {\n  await null;\n  throw new RangeError("late");\n}',
    );
    expect(error.message).to.contain('line 3: RangeError: late');
  });

  it('name the line of an unhandled rejection', async () => {
    const error = await transformError(
      'function transform() {\n  Promise.reject(new Error("lost"));\n  return null;\n}',
    );
    expect(error.message).to.contain('line 2: Error: lost');
  });

  it('name the line of an error in the code around the function', async () => {
    const error = await transformError('const transform = () => null;\nmissing();');
    expect(error.code).to.equal('transform_failed');
    expect(error.message).to.contain('line 2: ReferenceError: missing is not defined');
  });

  it('name the line of a syntax error', async () => {
    const error = await transformError('function transform() {\n  return 1 }}');
    expect(error.code).to.equal('transform_failed');
    expect(error.message).to.contain("line 2: SyntaxError: Unexpected token '}'");
  });

  it('say that no function is defined', async () => {
    expect((await transformError('const other = () => null')).message).to.contain(
      'no function named "transform" is defined',
    );
  });

  for (const [thrown, shown] of [
    ['"text"', 'it threw text'],
    ['{ code: 7 }', 'it threw {"code":7}'],
    ['undefined', 'it threw undefined'],
    ['{ toString() { throw 1 }, toJSON() { throw 2 } }', 'it threw (something that cannot be shown)'],
  ]) {
    it(`show a thrown value that is not an Error: ${thrown}`, async () => {
      expect((await transformError(`function transform() { throw ${thrown} }`)).message).to.contain(shown);
    });
  }

  it('cover an error object whose properties throw', async () => {
    const error = await transformError(`function transform() {
      const error = new Error('x');
      Object.defineProperty(error, 'stack', { get() { throw error } });
      error.toString = () => { throw error };
      throw error;
    }`);
    expect(error.code).to.equal('transform_failed');
  });

  it('include a stack overflow', async () => {
    const error = await transformError('function transform() {\n  return transform() }');
    expect(error.message).to.contain('line 2: RangeError: Maximum call stack size exceeded');
  });

  for (const [made, got] of [
    ['undefined', 'undefined'],
    ['"text"', 'a string'],
    ['7', 'a number'],
    ['true', 'a boolean'],
    ['7n', 'a bigint'],
    ['Symbol("s")', 'a symbol'],
    ['() => 1', 'a function'],
    ['new Date()', 'an object that is not an object in JSON'],
    ['({ n: 7n })', 'an object that is not JSON (TypeError: Do not know how to serialize a BigInt)'],
    ['Object.assign(this, { self: this })', 'an object that is not JSON (TypeError: Converting circular structure'],
    ['Promise.resolve(7)', 'a number'],
  ]) {
    it(`say what it returned and what was expected: ${made}`, async () => {
      const error = await transformError(`function transform() { return ${made} }`);
      expect(error.code).to.equal('transform_failed');
      expect(error.message).to.contain(`it returned ${got}`);
      expect(error.message).to.contain('expected an event, a list of events or null');
    });
  }

  it('include an event of more than 4 MiB', async () => {
    const size = (length: number) => transforms.run(returning(`return { x: "y".repeat(${length}) }`));
    expect(fieldsOf(await size(4 * 1_048_576 - 8)).x).to.have.length(4 * 1_048_576 - 8);
    expect((await errorOf(size(4 * 1_048_576))).message).to.contain('characters of JSON; at most 4194304 are allowed');
  });
});

describe('The check of a transform', () => {
  const transforms = shared({ timeoutMs: 300 });

  it('accepts code that defines the function, without calling it', async () => {
    await transforms.check('function transform() { throw new Error("called") }');
    await transforms.check('const transform = async (evt) => null');
  });

  it('names line and column of a syntax error', async () => {
    const error = await errorOf(transforms.check('function transform(evt) {\n  return {,}\n}'));
    expect(error.code).to.equal('transform_invalid');
    expect(error.message).to.contain("line 2: SyntaxError: Unexpected token ','");
    expect(error.facts).to.include({ line: 2, column: 11 });
  });

  it('names the line of an error in the code around the function', async () => {
    const error = await errorOf(transforms.check('\n\nmissing();\nfunction transform() {}'));
    expect(error.code).to.equal('transform_invalid');
    expect(error.facts).to.include({ line: 3, message: 'ReferenceError: missing is not defined' });
  });

  it('rejects code without a function named transform', async () => {
    for (const code of ['', 'const transform = 7', 'function transfrom() {}', 'globalThis.transform = {}']) {
      const error = await errorOf(transforms.check(code));
      expect(error.code).to.equal('transform_invalid');
      expect(error.message).to.contain('no function named "transform" is defined');
    }
  });

  it('rejects modules: a transform is a script', async () => {
    expect((await errorOf(transforms.check('export function transform() {}'))).message).to.contain(
      'line 1: SyntaxError',
    );
  });

  it('stops code that does not end', async () => {
    const error = await errorOf(transforms.check('function transform() {}\nwhile (true);'));
    expect(error.code).to.equal('transform_invalid');
    expect(error.message).to.contain('ran longer than 300 ms');
  });
});
