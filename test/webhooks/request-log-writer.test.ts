import { expect } from 'chai';
import { RequestLogWriter } from '../../src/api/receive/request-log-writer.ts';
import type { Telemetry } from '../../src/jobs/telemetry/telemetry.ts';
import type { Logger } from '../../src/log.ts';
import { newId } from '../../src/model/ids.ts';
import type { LoggedRequest } from '../../src/model/webhooks/request-log.ts';
import type { WebhookLog } from '../../src/store/webhooks/webhook-log.ts';

const MAX_REQUESTS = 3;

function requestOf(n: number): LoggedRequest {
  return {
    summary: {
      id: newId(),
      receivedAt: n,
      method: 'POST',
      ip: '192.0.2.1',
      outcome: 'accepted',
      status: 200,
      ids: [],
      console: [],
      durationMs: 1,
    },
    headers: {},
    search: '',
  };
}

/** A writer to a log in memory.
 *  @param onWrite called with each batch
 *  @param onLost called for each request that is not logged */
function writerTo(
  onWrite: (webhookId: string, requests: readonly LoggedRequest[]) => void,
  onLost: () => void = () => undefined,
): RequestLogWriter {
  const log = {
    maxRequests: MAX_REQUESTS,
    add: async (webhookId: string, requests: readonly LoggedRequest[]) => onWrite(webhookId, requests),
  };
  const telemetry = { publishWebhookRequest() {} };
  return new RequestLogWriter({
    webhookLog: log as unknown as WebhookLog,
    telemetry: telemetry as unknown as Telemetry,
    log: {
      warn: onLost,
    } as unknown as Logger,
  });
}

describe('The writer of request logs', () => {
  it('pauses a log for three rounds when one round has filled it, and writes the others meanwhile', async () => {
    const written: string[] = [];
    const again = Promise.withResolvers<void>();
    const writer = writerTo((webhookId, requests) => {
      written.push(`${webhookId} ${requests.length}`);
      if (written.length > 1 && webhookId === 'busy') again.resolve();
      // More come before the next round.
      if (webhookId === 'quiet' && written.length < 6) add();
    });
    const add = () => {
      for (let n = 0; n < MAX_REQUESTS; n++) writer.add('busy', requestOf(n));
      writer.add('quiet', requestOf(0));
    };
    add();
    await again.promise;
    await writer.flush();
    expect(written.slice(0, 6)).to.deep.equal(['busy 3', 'quiet 1', 'quiet 1', 'quiet 1', 'quiet 1', 'busy 3']);
  });

  it('also counts headers and query of a request, so that requests without a body do not fill the memory', async () => {
    let written = 0;
    let lost = 0;
    const writer = writerTo(
      (_, requests) => {
        written += requests.length;
      },
      () => lost++,
    );
    const large = { headers: { 'x-large': 'h'.repeat(15_000) }, search: 's'.repeat(15_000) };
    // 31 KB each, of 64 MB; to different webhooks, whose logs keep a few.
    for (let n = 0; n < 2_500; n++) writer.add(`hook ${n}`, { ...requestOf(n), ...large });
    await writer.flush();
    expect(written + lost).to.equal(2_500);
    expect(written).to.be.within(2_000, 2_200);
  });

  it('writes a paused log at once when the process ends', async () => {
    const written: string[] = [];
    const writer = writerTo((webhookId, [request]) => {
      written.push(`${webhookId} ${request?.summary.receivedAt}`);
      if (written.length === 1) writer.add('busy', requestOf(7));
    });
    for (let n = 0; n < MAX_REQUESTS; n++) writer.add('busy', requestOf(n));
    await writer.flush();
    expect(written).to.deep.equal(['busy 0', 'busy 7']);
  });
});
