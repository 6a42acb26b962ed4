import { expect } from 'chai';
import { archiveSizesTable, claimBytes, diskBytes, hotBytes } from '../../bench/archive-sizing.ts';
import type { ArchiveBytes, Results } from '../../bench/results.ts';

const DAY = 86_400;
const archive: ArchiveBytes = {
  eventPayload: 200,
  event: {
    table: 300,
    indexes: [
      { columns: '(id)', bytes: 50 },
      { columns: '(env_id, at)', bytes: 50 },
    ],
  },
  run: { table: 250, indexes: [{ columns: '(id)', bytes: 40 }] },
  decision: 10,
  left: { event: 0, claim: 200, run: 0 },
};
const bytes = { eventPayload: 200, event: { memory: 500, file: 0 }, run: { memory: 600, file: 0 } };
const load = { eventsPerSecond: 1_000, runsPerEvent: 1 };

describe('Capacity planning with an archive', () => {
  it('counts the hot hours and a day of deduplication IDs in Redis', () => {
    expect(hotBytes(load, 1, bytes)).to.equal(1_000 * 3_600 * 1_100);
    expect(claimBytes(load, archive)).to.equal(1_000 * DAY * 200);
  });

  it('counts the rest of the retention and the day that is dropped next on disk', () => {
    expect(diskBytes(load, { hotHours: 24, days: 7 }, archive)).to.equal(1_000 * 7 * DAY * 700);
    expect(diskBytes({ ...load, runsPerEvent: 0 }, { hotHours: 24, days: 1 }, archive)).to.equal(1_000 * DAY * 400);
  });

  it('shows both for each number of hot hours', () => {
    const results = { bytes, archive } as Results;
    const lines = archiveSizesTable(results).split('\n');
    expect(lines[2]).to.equal('| 1,000 events/s | `HOT_HOURS=1` | 1.8 GB | 17.3 GB | 275 GB | 1,070 GB | 12,648 GB |');
    expect(archiveSizesTable({} as Results)).to.match(/no such figures/);
  });
});
