import { expect } from 'chai';
import { FAILS, type ReplayBed, startReplayBed } from '../replays/bed.ts';
import { blocksOf, pageOf, runCurl } from './examples.ts';

describe('docs/replays.md', () => {
  let bed: ReplayBed;
  before(async () => {
    bed = await startReplayBed();
    await bed.register([{ id: 'send-receipt', triggers: [{ event: 'order/paid' }], retries: 0 }]);
    bed.host.on('send-receipt', () => FAILS);
    await bed.send([{ name: 'order/paid' }]);
    await bed.runs('send-receipt', 'Failed', 1);
  });
  after(() => bed?.close());

  it('has requests that work one after another', async () => {
    const variables: Record<string, string> = {
      HOUR_AGO: new Date(Date.now() - 3_600_000).toISOString(),
      NOW: new Date().toISOString(),
    };
    const statuses: number[] = [];
    for (const { info, code } of blocksOf(pageOf('replays.md'))) {
      if (info !== 'sh') continue;
      // As POST sends them.
      const { status, body } = await runCurl(code, bed.service.url, variables);
      statuses.push(status);
      expect(body, code).to.have.property('data');
      if (body.data.dry_run) expect(body.data.would_start).to.equal(1);
      if (status === 201) {
        variables.REPLAY_ID = body.data.id;
        // One that is done is neither paused nor resumed.
        await bed.service.post(`/v1/replays/${body.data.id}/pause`, {});
      }
    }
    expect(statuses).to.deep.equal([200, 201, 200, 200, 200, 200, 200, 200]);
  });
});
