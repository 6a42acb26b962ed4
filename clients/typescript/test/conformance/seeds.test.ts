import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { seededId, seedFrom, seedOfStep } from '../../src/seed.ts';

type Of = { seed: string; index: number } | { run_id: string; hashed_step_id: string; event_ts: number };

interface Case {
  title: string;
  of: Of;
  seed: string | null;
  id?: string;
}

describe('TypeScript conforms: seeds', () => {
  eachCase<Case>('seeds', { of: true, seed: true, id: true }, ({ of, seed, id }) => {
    if (seed === null) expect(() => seedOf(of)).to.throw(TypeError);
    else {
      expect(seedOf(of)).to.equal(seed);
      // A relay looks up this ID.
      expect(seededId(seed, 1)).to.equal(id);
    }
  });
});

function seedOf(of: Of): string {
  return 'seed' in of ? seedFrom(of.seed, of.index) : seedOfStep(of.run_id, of.hashed_step_id, of.event_ts);
}
