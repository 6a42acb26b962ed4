import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { replay } from '../../src/steps/replay.ts';
import { currentStep } from '../../src/steps/running-step.ts';

interface Case {
  title: string;
  run_id: string;
  step: string;
  key: string;
}

describe('TypeScript conforms: idempotency keys', () => {
  eachCase<Case>('idempotency-keys', { run_id: true, step: true, key: true }, async ({ run_id: runId, step, key }) => {
    const call = { runId, memos: {}, order: [], requestedStep: undefined, disableImmediateExecution: false };
    const progress = await replay(call, (find) =>
      find({ kind: 'run', id: step, run: () => currentStep()?.idempotencyKey }),
    );
    expect(progress).to.have.nested.property('ops[0].data', key);
  });
});
