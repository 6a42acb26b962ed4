import { expect } from 'chai';
import { compile, type Expression, JUDGMENT_UNITS } from '../../src/model/expressions/expression.ts';
import { attacks } from './attacks.ts';

describe('an expression of a stranger', () => {
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
      const { verdict, cost } = compiled.judge({ event: { name: 'x', data } });
      expect(verdict).to.equal(must);
      expect(cost).to.be.at.most(JUDGMENT_UNITS);
      // It costs the same every time, and leaves nothing behind by which the next is judged.
      expect(compiled.judge({ event: { name: 'x', data } }).verdict).to.equal(must);
      expect(compile('event.data.total > 10').judge({ event: { data: { total: 11 } } }).verdict).to.equal('met');
    });
  }

  it('makes no types of what it finds in events, which would be kept for ever', () => {
    const expression = compile('event.data.x == 1');
    const deep = JSON.parse(`${'{"a":['.repeat(200)}${']}'.repeat(200)}`);
    const { cost } = expression.judge({ event: { data: { x: deep } } });
    expect(cost).to.be.at.most(10);
  });
});
