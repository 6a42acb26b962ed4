import { expect } from 'chai';
import { UnverifiedLogLimit } from '../../src/api/receive/unverified-log-limit.ts';
import type { LoggedRequest, LogSummary } from '../../src/model/webhooks/request-log.ts';

const MINUTE_MS = 60_000;

describe('The log of unverified requests', () => {
  const refused = (receivedAt: number, fields: Partial<LogSummary> = {}, body = Buffer.from('{}')): LoggedRequest => ({
    summary: {
      ...{ id: 'r', method: 'POST', ip: '192.0.2.1', status: 401, ids: [], console: [], durationMs: 1 },
      ...{ receivedAt, outcome: 'rejected', reason: 'verification_failed', bodyBytes: body.length },
      ...fields,
    },
    headers: { host: 'example.com' },
    search: '',
    body,
  });
  const count = (limit: UnverifiedLogLimit, requests: LoggedRequest[], webhook = 'w') =>
    requests.filter((request) => limit.admit(webhook, request)).length;
  const many = (n: number, at: number, fields?: Partial<LogSummary>) =>
    Array.from({ length: n }, () => refused(at, fields));

  it('takes 1,000 requests at once, and then one per second', () => {
    const limit = new UnverifiedLogLimit();
    expect(count(limit, many(1_500, 0))).to.equal(1_000);
    expect(count(limit, many(1_500, MINUTE_MS))).to.equal(60);
    expect(count(limit, many(1_500, MINUTE_MS), 'another webhook')).to.equal(1_000);
    expect(count(limit, many(1_500, 60 * MINUTE_MS))).to.equal(1_000);
  });

  it('takes 16 MiB at once, and then requests without their bodies', () => {
    const limit = new UnverifiedLogLimit();
    const body = Buffer.alloc(1_048_576);
    const logged = Array.from({ length: 100 }, () => limit.admit('w', refused(0, {}, body)));
    expect(logged.filter((request) => request?.body)).to.have.length(15);
    expect(logged.at(-1)).to.have.nested.property('summary.outcome', 'rejected');
    expect(logged.at(-1)?.summary.bodyBytes).to.equal(undefined);
  });

  it('limits neither verified requests nor requests that failed later', () => {
    const limit = new UnverifiedLogLimit();
    count(limit, many(1_500, 0));
    expect(limit.admit('w', refused(0))).to.equal(undefined);
    for (const fields of [
      { reason: 'transform_failed' },
      { outcome: 'accepted', reason: undefined },
      { outcome: 'handshake', verification: { result: 'verified' } },
      { reason: 'method_not_allowed', verification: { result: 'verified' } },
    ] as Partial<LogSummary>[]) {
      expect(count(limit, many(50, 0, fields)), JSON.stringify(fields)).to.equal(50);
    }
    expect(limit.admit('w', refused(0, { outcome: 'handshake', reason: undefined }))).to.equal(undefined);
  });
});
