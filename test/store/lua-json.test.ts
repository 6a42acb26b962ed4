import { expect } from 'chai';
import fc from 'fast-check';
import { luaJson } from '../../src/store/redis/lua-json.ts';

describe('JSON for scripts of Redis', () => {
  it('has no lone surrogate, in values and in names', () => {
    expect(luaJson({ 'a\ud800': ['\udfff', 'x\ud83dy'] })).to.equal('{"a\ufffd":["\ufffd","x\ufffdy"]}');
  });

  it('keeps texts that only look like an escape', () => {
    expect(JSON.parse(luaJson('\\ud800'))).to.equal('\\ud800');
    expect(JSON.parse(luaJson('\\\ud800'))).to.equal('\\\ufffd');
  });

  it('is what JSON.stringify writes of the well-formed text, whatever the text', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\\', 'u', 'd', '8', '0', '"', '\n', '😀') }),
        (text) => {
          expect(luaJson(text)).to.equal(JSON.stringify(text.toWellFormed()));
        },
      ),
    ));
});
