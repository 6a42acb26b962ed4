import { expect } from 'chai';
import { errorOf, fieldsOf, REQUEST, returning, shared, webhook } from './support.ts';

describe('The isolate of a transform', () => {
  const transforms = shared();

  const resultOf = async (expression: string) =>
    fieldsOf(await transforms.run(returning(`return { value: ${expression} }`))).value;

  for (const name of ['process', 'require', 'module', 'Buffer', 'fetch', 'setTimeout', 'performance', 'WebAssembly']) {
    it(`has no ${name}`, async () => {
      expect(await resultOf(`typeof ${name}`)).to.equal('undefined');
      expect(await resultOf(`typeof globalThis.${name}`)).to.equal('undefined');
    });
  }

  for (const way of [
    'this.constructor.constructor("return typeof process")()',
    'console.log.constructor("return typeof process")()',
    '(async () => {}).constructor("return typeof process")().constructor.constructor("return typeof process")()',
    'arguments.callee.caller ? typeof arguments.callee.caller.constructor("return process")() : "undefined"',
    '(() => { try { null.x } catch (e) { return e.constructor.constructor("return typeof process")() } })()',
    'new Function("return typeof require")()',
  ]) {
    it(`has no escape through ${way.slice(0, 60)}`, async () => {
      const error = 'error';
      const value = await resultOf(`(() => { try { return ${way} } catch { return '${error}' } })()`);
      expect(value).to.be.oneOf(['undefined', error]);
    });
  }

  it('cannot import modules', async () => {
    const error = await errorOf(transforms.run(webhook('const transform = () => import("node:fs")')));
    expect(error.message).to.contain('Not supported');
  });

  it('is not shared by two webhooks', async () => {
    const first = webhook('globalThis.secret = 1; const transform = () => ({ secret: typeof secret })');
    await transforms.run(first);
    expect(await resultOf('typeof secret')).to.equal('undefined');
  });

  it('has no growable buffers, because V8 does not count their memory', async () => {
    const grow = 'new ArrayBuffer(8, { maxByteLength: 1e9 })';
    expect(await resultOf(`${grow}.resizable`)).to.equal(false);
    expect(await resultOf(`new SharedArrayBuffer(8, { maxByteLength: 1e9 }).growable`)).to.equal(false);
    expect(await resultOf('new (new Uint8Array(8).buffer.constructor)(8, { maxByteLength: 1e9 }).resizable')).to.equal(
      false,
    );
    expect(await resultOf('new (class extends ArrayBuffer {})(8, { maxByteLength: 1e9 }).resizable')).to.equal(false);
    expect(await resultOf('new ArrayBuffer(8).slice(2).byteLength')).to.equal(6);
    expect(await resultOf('new ArrayBuffer(8) instanceof ArrayBuffer')).to.equal(true);
  });

  it('protects other requests from code that replaces built-ins', async () => {
    const vandal = webhook(`
      JSON.stringify = () => '{"returned":{"forged":true},"logs":7}';
      JSON.parse = () => { throw new Error('gone') };
      Object.prototype.toJSON = () => ({ forged: true });
      Array.prototype[Symbol.iterator] = Array.prototype.push = String.prototype.slice = Reflect.apply = undefined;
      Promise.prototype.then = () => { throw new Error('gone') };
      Promise = Error = String = undefined;
      async function transform(evt) { console.log('a'.repeat(20000)); return Object.create(null, { evt: { value: evt.n, enumerable: true } }); }
    `);
    const { returned: event, logs } = await transforms.run(vandal, { ...REQUEST, body: { n: 7 } });
    expect(event).to.deep.equal({ evt: 7 });
    expect(logs).to.have.length(2);
    expect(await resultOf('JSON.stringify([1])')).to.equal('[1]');
  });
});

describe('The isolate of a transform whose time is ahead of the machine', () => {
  const AHEAD_MS = 30 * 86_400_000;
  let aheadMs = 0;
  const transforms = shared({ aheadMs: () => aheadMs });
  beforeEach(() => {
    aheadMs = AHEAD_MS;
  });
  const shownBy = async (transform: ReturnType<typeof returning>) => fieldsOf(await transforms.run(transform)).value;
  const isAhead = (time: unknown, by: number) => expect(time).to.be.closeTo(Date.now() + by, 60_000);

  it('has that time in each of its dates, and dates are what they were', async () => {
    isAhead(await shownBy(returning('return { value: Date.now() }')), AHEAD_MS);
    isAhead(await shownBy(returning('return { value: new Date().getTime() }')), AHEAD_MS);
    isAhead(Date.parse(String(await shownBy(returning('return { value: Date() }')))), AHEAD_MS);
    isAhead(await shownBy(returning('return { value: new (new Date(0).constructor)().getTime() }')), AHEAD_MS);
    isAhead(await shownBy(returning('return { value: new (class extends Date {})().getTime() }')), AHEAD_MS);
    expect(await shownBy(returning('return { value: new Date(2030, 0, 2).getDate() }'))).to.equal(2);
    expect(await shownBy(returning('return { value: new Date(0) instanceof Date && Date.UTC(1970, 0) }'))).to.equal(0);
  });

  it('follows when the time is moved on, also where it was used before', async () => {
    const transform = returning('return { value: Date.now() }');
    isAhead(await shownBy(transform), AHEAD_MS);
    aheadMs = 2 * AHEAD_MS;
    isAhead(await shownBy(transform), 2 * AHEAD_MS);
    aheadMs = 0;
    isAhead(await shownBy(transform), 0);
  });

  it('cannot change it for the next request', async () => {
    const vandal = returning(
      'const before = Date.now(); Date.now = () => 7; Date = { now: () => 7 }; return { value: before }',
    );
    for (let n = 0; n < 2; n++) isAhead(await shownBy(vandal), AHEAD_MS);
  });
});
