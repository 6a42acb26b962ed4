import { expect } from 'chai';
import { identifyingHeaders } from '../../src/functions/call-headers.ts';
import type { CallContext } from '../../src/functions/call-request.ts';

describe('Headers that identify a call', () => {
  it('percent-encode step IDs with characters that a header cannot hold', () => {
    const stepId = 'é\r\nx-evil: 1 \ud800';
    const context = { run: { id: 'R', requestId: 'Q' }, stepId, jobId: `R-${stepId}`, startedAt: 1 };
    const headers = identifyingHeaders('inngest', context as CallContext);
    expect(headers['x-inngest-step-id']).to.equal('%C3%A9%0D%0Ax-evil%3A%201%20%EF%BF%BD');
    expect(headers['x-inngest-job-id']).to.match(/^R-%C3%A9/);
  });
});
