import { expect } from 'chai';
import { type ExceededThreshold, exceededThresholds, retryAfterSeconds } from '../../src/model/capacity/thresholds.ts';

const MARKS = { memoryBytes: undefined, memoryPercent: 90, ingestJobs: 100, runJobs: 1_000 };
const EMPTY = { usedBytes: 0, maxBytes: 1_000, ingestJobs: 0, runJobs: 0 };

describe('when the store is full', () => {
  const resources = (load: object, marks: object = {}, before: ExceededThreshold[] = []) =>
    exceededThresholds({ ...EMPTY, ...load }, { ...MARKS, ...marks }, before).map(({ resource }) => resource);

  it('each measure has a mark of its own, which it may reach but not pass', () => {
    expect(resources({ usedBytes: 900, ingestJobs: 100, runJobs: 1_000 })).to.deep.equal([]);
    expect(resources({ usedBytes: 901 })).to.deep.equal(['memory']);
    expect(resources({ ingestJobs: 101 })).to.deep.equal(['ingest']);
    expect(resources({ usedBytes: 901, runJobs: 1_001 })).to.deep.equal(['memory', 'runs']);
  });

  it('the memory is what Redis may use, else what it is said to have, else without a mark', () => {
    expect(resources({ usedBytes: 500, maxBytes: 0 })).to.deep.equal([]);
    expect(resources({ usedBytes: 500, maxBytes: 0 }, { memoryBytes: 550 })).to.deep.equal(['memory']);
    expect(resources({ usedBytes: 500, maxBytes: 1_000 }, { memoryBytes: 550 })).to.deep.equal([]);
    expect(resources({ usedBytes: undefined })).to.deep.equal([]);
  });

  it('0 is no mark', () => {
    const none = { memoryPercent: 0, ingestJobs: 0, runJobs: 0 };
    expect(resources({ usedBytes: 1_000, ingestJobs: 1e9, runJobs: 1e9 }, none)).to.deep.equal([]);
  });

  it('what was past its mark is let in again below 95 % of it, and what was not is let in up to it', () => {
    const before: ExceededThreshold[] = [{ resource: 'ingest', level: 101, threshold: 100 }];
    expect(resources({ ingestJobs: 96, usedBytes: 890 }, {}, before)).to.deep.equal(['ingest']);
    expect(resources({ ingestJobs: 95 }, {}, before)).to.deep.equal([]);
  });

  it('senders come again after 2 to 30 s, the later the fuller it is', () => {
    const after = [95, 100, 102, 105, 110, 200].map((level) =>
      retryAfterSeconds({ resource: 'runs', level, threshold: 100 }),
    );
    expect(after).to.deep.equal([2, 2, 8, 16, 30, 30]);
  });
});
