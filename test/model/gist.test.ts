import { expect } from 'chai';
import { gistOf, gistOfHead, headOf } from '../../src/model/events/gist.ts';
import { parseExact } from '../../src/model/values/json.ts';

const CASES: [title: string, data: string, gist: string][] = [
  [
    'plain values in their order',
    '{"customer":"c_1","total":99.5,"paid":true}',
    'customer: "c_1", total: 99.5, paid: true',
  ],
  ['values of the top level first', '{"order":{"id":7},"source":"web"}', 'source: "web", order.id: 7'],
  ['no lists, no null, no empty texts', '{"a":[1],"b":null,"c":"","d":0}', 'd: 0'],
  ['nothing deeper than two levels', '{"a":{"b":{"c":1}}}', ''],
  ['no fields of SDKs', '{"_inngest":{"fn_id":"f"},"n":1}', 'n: 1'],
  ['every digit of a number', '{"id":12345678901234567890}', 'id: 12345678901234567890'],
  ['long values cut', `{"text":"${'x'.repeat(60)}"}`, `text: "${'x'.repeat(39)}…"`],
  ['line breaks escaped', '{"text":"a\\nb"}', 'text: "a\\nb"'],
];

const payloadOf = (data: string) => `{"name":"order/paid","data":${data},"ts":1}`;

describe('The gist of an event', () => {
  for (const [title, data, gist] of CASES) {
    it(`has ${title}`, () => {
      expect(gistOf(parseExact(data))).to.equal(gist);
      expect(gistOfHead(headOf(payloadOf(data)))).to.equal(gist);
    });
  }

  it('has at most 120 characters', () => {
    const data = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`field${n}`, 'x'.repeat(n)]));
    expect(gistOf(data).length).to.be.within(60, 120);
  });

  it('is read from the beginning of a large payload', () => {
    const big = `{"customer":"c_1","total":5,"text":"${'\\"{['.repeat(2_000)}","last":1}`;
    expect(headOf(payloadOf(big)).length).to.equal(4_096);
    expect(gistOfHead(headOf(payloadOf(big)))).to.equal('customer: "c_1", total: 5');
  });

  it('is empty for what has no readable beginning', () => {
    for (const text of ['', '{', '[', 'nonsense', '{"data":', `{"data":${'['.repeat(5_000)}`]) {
      expect(gistOfHead(headOf(text)), text.slice(0, 20)).to.equal('');
    }
  });
});
