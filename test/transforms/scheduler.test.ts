import { expect } from 'chai';
import { CircuitBreakers } from '../../src/transforms/scheduler/circuit-breaker.ts';
import { DurationEstimate } from '../../src/transforms/scheduler/duration-estimate.ts';
import { FairQueue } from '../../src/transforms/scheduler/fair-queue.ts';
import { InFlightRequests } from '../../src/transforms/scheduler/in-flight.ts';
import { QueuedRequest } from '../../src/transforms/scheduler/queued-request.ts';

const requests: QueuedRequest[] = [];

function request(id: string): QueuedRequest {
  const made = new QueuedRequest({ id, version: '1', code: '' }, ['null', '[{},{}]'], 60_000);
  requests.push(made);
  return made;
}

const NOTHING = { returned: null, text: '', logs: [], durationMs: 0 };
const batch = (...webhooks: string[]) => ({ requests: webhooks.map(request), slow: false });

const ids = (list: (QueuedRequest | undefined)[]) => list.map((request) => request?.transform.id);

afterEach(() => {
  for (const made of requests.splice(0)) made.settle(NOTHING);
});

describe('FairQueue', () => {
  it('serves webhooks round-robin, and the requests of each webhook in order', () => {
    const queue = new FairQueue(10);
    const [a1, a2, a3, b1, c1] = ['a', 'a', 'a', 'b', 'c'].map(request) as [
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
    ];
    for (const one of [a1, a2, a3, b1, c1]) queue.add(one);
    expect(Array.from({ length: 6 }, () => queue.next())).to.deep.equal([a1, b1, c1, a2, a3, undefined]);
    expect(queue.size).to.equal(0);
  });

  it('skips webhooks that may not run', () => {
    const queue = new FairQueue(10);
    for (const id of ['a', 'b']) queue.add(request(id));
    expect(queue.next((key) => key.startsWith('b'))?.transform.id).to.equal('b');
    expect(queue.next((key) => key.startsWith('b'))).to.equal(undefined);
    expect(queue.size).to.equal(1);
  });

  it('drops the last request of the longest queue when the limit is exceeded', () => {
    const queue = new FairQueue(3);
    const [a1, a2, b1, c1, c2] = ['a', 'a', 'b', 'c', 'c'].map(request) as [
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
    ];
    expect([a1, a2, b1].map((item) => queue.add(item))).to.deep.equal([undefined, undefined, undefined]);
    expect(queue.add(c1)).to.equal(a2);
    expect(queue.add(c2)).to.equal(c2);
    expect(queue.size).to.equal(3);
  });

  it('does not count settled requests against the limit', () => {
    const queue = new FairQueue(2);
    const [a1, a2, b1] = ['a', 'a', 'b'].map(request) as [QueuedRequest, QueuedRequest, QueuedRequest];
    queue.add(a1);
    queue.add(a2);
    a1.settle(NOTHING);
    expect(queue.add(b1)).to.equal(undefined);
    expect([queue.next(), queue.next(), queue.next()]).to.deep.equal([a2, b1, undefined]);
  });
});

describe('FairQueue for the requests of one webhook', () => {
  it('returns them out of turn for a batch, without settled ones', () => {
    const queue = new FairQueue(10);
    const [a1, a2, a3, a4, b1] = ['a', 'a', 'a', 'a', 'b'].map(request) as [
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
    ];
    for (const one of [a1, a2, a3, a4, b1]) queue.add(one);
    a2.settle(NOTHING);
    expect(queue.next()).to.equal(a1);
    expect(queue.nextOf(a1.key, 1)).to.deep.equal([a3]);
    expect(queue.size).to.equal(2);
    expect(queue.nextOf(a1.key, 9)).to.deep.equal([a4]);
    expect([queue.next(), queue.next()]).to.deep.equal([b1, undefined]);
  });

  it('puts unserved requests back to the front', () => {
    const queue = new FairQueue(10);
    const [a1, a2, a3] = ['a', 'a', 'a'].map(request) as [QueuedRequest, QueuedRequest, QueuedRequest];
    for (const one of [a1, a2, a3]) queue.add(one);
    const taken = [queue.next(), ...queue.nextOf(a1.key, 1)] as QueuedRequest[];
    queue.putBack(taken.slice(1));
    queue.putBack([]);
    expect(queue.size).to.equal(2);
    expect([queue.next(), queue.next(), queue.next()]).to.deep.equal([a2, a3, undefined]);
  });

  it('makes batches larger the faster the transform is', () => {
    const durations = new DurationEstimate();
    expect(durations.batchSize('new')).to.equal(1);
    durations.record('quick', 0.005);
    durations.record('middling', 0.3);
    durations.record('long', 5);
    expect(['quick', 'middling', 'long'].map((key) => durations.batchSize(key))).to.deep.equal([32, 3, 1]);
  });
});

describe('CircuitBreakers', () => {
  const rules = { strikes: 3, windowMs: 60_000 };

  it('keeps a transform good until it is suspected, and makes it good again after a success', () => {
    const circuits = new CircuitBreakers(rules);
    expect(circuits.stateOf('a', 0).kind).to.equal('good');
    circuits.markSuspect('a');
    expect(circuits.stateOf('a', 0).kind).to.equal('suspect');
    expect(circuits.stateOf('b', 0).kind).to.equal('good');
    expect(circuits.success('a', 1)).to.equal(true);
    expect(circuits.stateOf('a', 1).kind).to.equal('good');
  });

  it('keeps a transform suspect for a minute after a strike, despite successes', () => {
    const circuits = new CircuitBreakers(rules);
    circuits.strike('a', 0);
    expect(circuits.success('a', 59_999)).to.equal(false);
    expect(circuits.stateOf('a', 59_999).kind).to.equal('suspect');
    expect(circuits.success('a', 60_000)).to.equal(true);
    expect(circuits.stateOf('a', 60_000).kind).to.equal('good');
  });

  it('quarantines a transform for a minute after three strikes within a minute, then treats it as suspect', () => {
    const circuits = new CircuitBreakers(rules);
    expect(circuits.strike('a', 0).kind).to.equal('suspect');
    expect(circuits.strike('a', 30_000).kind).to.equal('suspect');
    expect(circuits.strike('a', 59_000)).to.deep.equal({ kind: 'quarantined', retryAfterSeconds: 60 });
    expect(circuits.stateOf('a', 118_500)).to.deep.equal({ kind: 'quarantined', retryAfterSeconds: 1 });
    expect(circuits.stateOf('a', 119_000).kind).to.equal('suspect');
    expect(circuits.strike('a', 119_000).kind).to.equal('suspect');
  });

  it('ignores strikes older than a minute', () => {
    const circuits = new CircuitBreakers(rules);
    for (const at of [0, 59_000, 60_000, 119_500]) expect(circuits.strike('a', at).kind).to.equal('suspect');
    expect(circuits.strike('a', 119_600).kind).to.equal('quarantined');
  });
});

describe('InFlightRequests', () => {
  it('counts a batch as started when a thread is free for it', () => {
    const inFlight = new InFlightRequests(2);
    const numbers = ['a', 'b', 'c'].map((id) => inFlight.add(batch(id), 10));
    inFlight.remove(numbers[0] as number, 20);
    inFlight.remove(numbers[1] as number, 30);
    expect(inFlight.anyStartedBefore(20)).to.equal(false);
    expect(inFlight.anyStartedBefore(21)).to.equal(true);
  });

  it('drains started requests apart from pending ones', () => {
    const inFlight = new InFlightRequests(2);
    for (const id of ['a', 'b', 'c', 'd']) inFlight.add(batch(id), 0);
    const { started, pending } = inFlight.drain();
    expect([ids(started), ids(pending)]).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(inFlight.requests).to.deep.equal([]);
  });

  it('adds and removes all requests of a batch', () => {
    const inFlight = new InFlightRequests(2);
    const number = inFlight.add({ ...batch('a', 'a', 'a'), slow: true }, 0);
    inFlight.add(batch('b', 'b'), 0);
    expect(inFlight.load).to.deep.include({ requests: 5, batches: 2, slowBatches: 1 });
    expect(ids(inFlight.remove(number, 1)?.requests as QueuedRequest[])).to.deep.equal(['a', 'a', 'a']);
    expect(inFlight.remove(number, 1)).to.equal(undefined);
    expect(inFlight.load).to.deep.include({ requests: 2, batches: 1, slowBatches: 0 });
  });

  it('knows when the newest batch of each webhook was sent that is still inside', () => {
    const inFlight = new InFlightRequests(2);
    const numbers = ['a', 'b', 'a'].map((id, i) => inFlight.add(batch(id), 10 + i));
    inFlight.remove(numbers[0] as number, 20);
    expect([...inFlight.load.sentAt]).to.deep.equal([
      ['a\n1', 12],
      ['b\n1', 11],
    ]);
    inFlight.remove(numbers[2] as number, 20);
    expect([...inFlight.load.sentAt]).to.deep.equal([['b\n1', 11]]);
    inFlight.drain();
    expect(inFlight.load.sentAt.size).to.equal(0);
  });
});

describe('DurationEstimate', () => {
  it('treats a transform as slow until it has run fast', () => {
    const durations = new DurationEstimate();
    expect(durations.isSlow('a')).to.equal(true);
    durations.record('a', 1);
    expect(durations.isSlow('a')).to.equal(false);
    for (let i = 0; i < 5; i += 1) durations.record('a', 500);
    expect(durations.isSlow('a')).to.equal(true);
  });
});
