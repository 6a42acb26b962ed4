import { expect } from 'chai';
import type { LiveRunStates } from '../../src/api/rest/live-run-states.ts';
import { LiveStreams } from '../../src/api/rest/live-streams.ts';
import type { LiveFeed } from '../../src/store/telemetry/live-updates.ts';

describe('Clients of the live stream', () => {
  it('of one principal are limited, so that all others can connect', () => {
    const feed = { onGap() {}, subscribe: () => () => {} } as unknown as LiveFeed;
    const liveStreams = new LiveStreams(feed, {} as LiveRunStates);
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
