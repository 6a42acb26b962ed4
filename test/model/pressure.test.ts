import { expect } from 'chai';
import { type ExceededThreshold, exceededThresholds, retryAfterSeconds } from '../../src/model/capacity/thresholds.ts';

const THRESHOLDS = { memoryBytes: undefined, memoryPercent: 90, ingestJobs: 100, runJobs: 1_000 };
const EMPTY = { usedBytes: 0, maxBytes: 1_000, ingestJobs: 0, runJobs: 0 };

describe('Thresholds of the store', () => {
  const resources = (load: object, thresholds: object = {}, before: ExceededThreshold[] = []) =>
    exceededThresholds({ ...EMPTY, ...load }, { ...THRESHOLDS, ...thresholds }, before).map(({ resource }) => resource);

  it('apply per resource; a resource may reach but not exceed its threshold', () => {
    expect(resources({ usedBytes: 900, ingestJobs: 100, runJobs: 1_000 })).to.deep.equal([]);
    expect(resources({ usedBytes: 901 })).to.deep.equal(['memory']);
    expect(resources({ ingestJobs: 101 })).to.deep.equal(['ingest']);
    expect(resources({ usedBytes: 901, runJobs: 1_001 })).to.deep.equal(['memory', 'runs']);
  });

  it('use the memory limit of Redis, else the setting, else none', () => {
    expect(resources({ usedBytes: 500, maxBytes: 0 })).to.deep.equal([]);
    expect(resources({ usedBytes: 500, maxBytes: 0 }, { memoryBytes: 550 })).to.deep.equal(['memory']);
    expect(resources({ usedBytes: 500, maxBytes: 1_000 }, { memoryBytes: 550 })).to.deep.equal([]);
    expect(resources({ usedBytes: undefined })).to.deep.equal([]);
  });

  it('are disabled if they are 0', () => {
    const none = { memoryPercent: 0, ingestJobs: 0, runJobs: 0 };
    expect(resources({ usedBytes: 1_000, ingestJobs: 1e9, runJobs: 1e9 }, none)).to.deep.equal([]);
  });

  it('readmit events below 95 % after they were exceeded', () => {
    const before: ExceededThreshold[] = [{ resource: 'ingest', level: 101, threshold: 100 }];
    expect(resources({ ingestJobs: 96, usedBytes: 890 }, {}, before)).to.deep.equal(['ingest']);
    expect(resources({ ingestJobs: 95 }, {}, before)).to.deep.equal([]);
  });

  it('set Retry-After to 2 to 30 s, growing with the excess', () => {
    const after = [95, 100, 102, 105, 110, 200].map((level) =>
      retryAfterSeconds({ resource: 'runs', level, threshold: 100 }),
    );
    expect(after).to.deep.equal([2, 2, 8, 16, 30, 30]);
  });
});
