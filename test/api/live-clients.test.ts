import { expect } from 'chai';
import type { LiveRunStates } from '../../src/api/rest/live-run-states.ts';
import { LiveStreams } from '../../src/api/rest/live-streams.ts';
import type { LiveFeed } from '../../src/store/telemetry/live-updates.ts';

describe('Clients of the live stream', () => {
  it('of one principal are so few that all others get in', () => {
    const feed = { onGap() {}, subscribe: () => () => {} } as unknown as LiveFeed;
    const runStates = { addTo: () => Promise.resolve([]) } as unknown as LiveRunStates;
    const liveStreams = new LiveStreams(feed, runStates);
    const open = (principal: string) =>
      liveStreams.open({
        env: 'production',
        principal,
        seesInstallation: false,
        gzip: false,
        isAllowed: async () => true,
      });
    const greedy = Array.from({ length: 1_100 }, () => open('api-key:greedy')).filter((stream) => stream !== undefined);
    expect(greedy.length).to.be.greaterThan(100).and.lessThan(500);
    expect(open('user:ada')).to.not.equal(undefined);
    liveStreams.close();
  });
});
