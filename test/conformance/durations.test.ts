import { expect } from 'chai';
import { durationMs, momentMs } from '../../src/model/values/time.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  value: number | string;
  wire: string | null;
  ms: number | null;
}

describe('The service conforms: durations', () => {
  eachCase<Case>('durations', { value: true, wire: true, ms: true }, ({ value, wire, ms }) => {
    if (wire !== null) expect(momentMs(wire, 0)).to.equal(ms);
    else expect(durationMs(String(value))).to.equal(undefined);
  });
});
