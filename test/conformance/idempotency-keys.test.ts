import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  run_id: string;
  step: string;
  key: string;
}

describe('The service conforms: idempotency keys', () => {
  eachCase<Case>('idempotency-keys', { run_id: true, step: true, key: true }, ({ run_id, step, key }) => {
    const hashed = createHash('sha1').update(step).digest('hex');
    expect(key).to.equal(`${run_id}-${hashed}`);
  });
});
