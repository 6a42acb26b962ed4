import { expect } from 'chai';
import { compile, EVALUATION_UNITS, type Expression } from '../../src/model/expressions/expression.ts';
import { attacks } from './attacks.ts';

describe('An untrusted expression', () => {
  for (const { name, expression, data, must, reason } of attacks()) {
    it(`is ${must.replace('_', ' ')}: ${name}`, () => {
      if (must === 'refused') {
        expect(() => compile(expression))
          .to.throw(Error)
          .with.property('message')
          .that.includes(reason)
          .and.does.not.include('\n');
        return;
      }
      const compiled: Expression = compile(expression);
      const { result, cost } = compiled.evaluate({ event: { name: 'x', data } });
      expect(result).to.equal(must);
      expect(cost).to.be.at.most(EVALUATION_UNITS);
      // Deterministic cost, and no influence on the next evaluation.
      expect(compiled.evaluate({ event: { name: 'x', data } }).result).to.equal(must);
      expect(compile('event.data.total > 10').evaluate({ event: { data: { total: 11 } } }).result).to.equal('met');
    });
  }

  it('creates no types from events, which cel-js would cache forever', () => {
    const expression = compile('event.data.x == 1');
    const deep = JSON.parse(`${'{"a":['.repeat(200)}${']}'.repeat(200)}`);
    const { cost } = expression.evaluate({ event: { data: { x: deep } } });
    expect(cost).to.be.at.most(10);
  });
});
