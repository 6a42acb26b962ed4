import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { momentMs, timeString } from '../../src/steps/duration.ts';

interface Case {
  title: string;
  value: number | string;
  wire: string | null;
  ms: number | null;
}

describe('TypeScript conforms: durations', () => {
  eachCase<Case>('durations', { value: true, wire: true, ms: true }, ({ value, wire, ms }) => {
    if (wire === null) {
      expect(() => timeString(value)).to.throw(TypeError);
      return;
    }
    expect(timeString(value)).to.equal(wire);
    expect(momentMs(wire, 0)).to.equal(ms);
  });
});
