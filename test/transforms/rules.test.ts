import { expect } from 'chai';
import { CircuitBreakers } from '../../src/transforms/scheduler/circuit-breaker.ts';
import { DurationEstimate } from '../../src/transforms/scheduler/duration-estimate.ts';
import { FairQueue } from '../../src/transforms/scheduler/fair-queue.ts';
import { InFlightRequests } from '../../src/transforms/scheduler/in-flight.ts';
import { QueuedRequest } from '../../src/transforms/scheduler/queued-request.ts';

const tickets: QueuedRequest[] = [];

function ticket(id: string): QueuedRequest {
  const made = new QueuedRequest({ id, version: '1', code: '' }, 'null', 60_000);
  tickets.push(made);
  return made;
}

const NOTHING = { event: null, text: '', logs: [], durationMs: 0 };
const batch = (...webhooks: string[]) => ({ tickets: webhooks.map(ticket), slow: false });

const ids = (list: (QueuedRequest | undefined)[]) => list.map((ticket) => ticket?.transform.id);

afterEach(() => {
  for (const made of tickets.splice(0)) made.settle(NOTHING);
});

describe('requests that wait', () => {
  it('are taken in turn of their webhooks, each webhook in order', () => {
    const waiting = new FairQueue(10);
    const [a1, a2, a3, b1, c1] = ['a', 'a', 'a', 'b', 'c'].map(ticket) as [
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
    ];
    for (const one of [a1, a2, a3, b1, c1]) waiting.add(one);
    expect(Array.from({ length: 6 }, () => waiting.take())).to.deep.equal([a1, b1, c1, a2, a3, undefined]);
    expect(waiting.size).to.equal(0);
  });

  it('are passed over while their webhook may not go', () => {
    const waiting = new FairQueue(10);
    for (const id of ['a', 'b']) waiting.add(ticket(id));
    expect(waiting.take((key) => key.startsWith('b'))?.transform.id).to.equal('b');
    expect(waiting.take((key) => key.startsWith('b'))).to.equal(undefined);
    expect(waiting.size).to.equal(1);
  });

  it('give way, when there is no place, from the end of the longest line', () => {
    const waiting = new FairQueue(3);
    const [a1, a2, b1, c1, c2] = ['a', 'a', 'b', 'c', 'c'].map(ticket) as [
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
    ];
    expect([a1, a2, b1].map((one) => waiting.add(one))).to.deep.equal([undefined, undefined, undefined]);
    expect(waiting.add(c1)).to.equal(a2);
    expect(waiting.add(c2)).to.equal(c2);
    expect(waiting.size).to.equal(3);
  });

  it('hold no place once they are settled', () => {
    const waiting = new FairQueue(2);
    const [a1, a2, b1] = ['a', 'a', 'b'].map(ticket) as [QueuedRequest, QueuedRequest, QueuedRequest];
    waiting.add(a1);
    waiting.add(a2);
    a1.settle(NOTHING);
    expect(waiting.add(b1)).to.equal(undefined);
    expect([waiting.take(), waiting.take(), waiting.take()]).to.deep.equal([a2, b1, undefined]);
  });
});

describe('requests of one webhook', () => {
  it('go together out of turn, but for those that were settled meanwhile', () => {
    const waiting = new FairQueue(10);
    const [a1, a2, a3, a4, b1] = ['a', 'a', 'a', 'a', 'b'].map(ticket) as [
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
      QueuedRequest,
    ];
    for (const one of [a1, a2, a3, a4, b1]) waiting.add(one);
    a2.settle(NOTHING);
    expect(waiting.take()).to.equal(a1);
    expect(waiting.more(a1.key, 1)).to.deep.equal([a3]);
    expect(waiting.size).to.equal(2);
    expect(waiting.more(a1.key, 9)).to.deep.equal([a4]);
    expect([waiting.take(), waiting.take()]).to.deep.equal([b1, undefined]);
  });

  it('keep their places when they come back unserved', () => {
    const waiting = new FairQueue(10);
    const [a1, a2, a3] = ['a', 'a', 'a'].map(ticket) as [QueuedRequest, QueuedRequest, QueuedRequest];
    for (const one of [a1, a2, a3]) waiting.add(one);
    const taken = [waiting.take(), ...waiting.more(a1.key, 1)] as QueuedRequest[];
    waiting.putBack(taken.slice(1));
    waiting.putBack([]);
    expect(waiting.size).to.equal(2);
    expect([waiting.take(), waiting.take(), waiting.take()]).to.deep.equal([a2, a3, undefined]);
  });

  it('go together the more, the quicker they are', () => {
    const pace = new DurationEstimate();
    expect(pace.batch('new')).to.equal(1);
    pace.note('quick', 0.005);
    pace.note('middling', 0.3);
    pace.note('long', 5);
    expect(['quick', 'middling', 'long'].map((key) => pace.batch(key))).to.deep.equal([16, 3, 1]);
  });
});

describe('the standing of a transform', () => {
  const rules = { strikes: 3, windowMs: 60_000 };

  it('is good until it is suspected, and again after a success', () => {
    const standings = new CircuitBreakers(rules);
    expect(standings.of('a', 0).kind).to.equal('good');
    standings.suspect('a');
    expect(standings.of('a', 0).kind).to.equal('suspect');
    expect(standings.of('b', 0).kind).to.equal('good');
    expect(standings.ranWell('a', 1)).to.equal(true);
    expect(standings.of('a', 1).kind).to.equal('good');
  });

  it('stays suspect for a minute after a strike, whatever succeeds', () => {
    const standings = new CircuitBreakers(rules);
    standings.strike('a', 0);
    expect(standings.ranWell('a', 59_999)).to.equal(false);
    expect(standings.of('a', 59_999).kind).to.equal('suspect');
    expect(standings.ranWell('a', 60_000)).to.equal(true);
    expect(standings.of('a', 60_000).kind).to.equal('good');
  });

  it('is quarantined for a minute from the third strike within a minute, then suspect', () => {
    const standings = new CircuitBreakers(rules);
    expect(standings.strike('a', 0).kind).to.equal('suspect');
    expect(standings.strike('a', 30_000).kind).to.equal('suspect');
    expect(standings.strike('a', 59_000)).to.deep.equal({ kind: 'quarantined', retryAfterSeconds: 60 });
    expect(standings.of('a', 118_500)).to.deep.equal({ kind: 'quarantined', retryAfterSeconds: 1 });
    expect(standings.of('a', 119_000).kind).to.equal('suspect');
    expect(standings.strike('a', 119_000).kind).to.equal('suspect');
  });

  it('does not count a strike of more than a minute ago', () => {
    const standings = new CircuitBreakers(rules);
    for (const at of [0, 59_000, 60_000, 119_500]) expect(standings.strike('a', at).kind).to.equal('suspect');
    expect(standings.strike('a', 119_600).kind).to.equal('quarantined');
  });
});

describe('the requests inside a child', () => {
  it('count as begun from when a thread is free for them', () => {
    const flights = new InFlightRequests(2);
    const numbers = ['a', 'b', 'c'].map((id) => flights.add(batch(id), 10));
    flights.take(numbers[0] as number, 20);
    flights.take(numbers[1] as number, 30);
    expect(flights.anyBegunBefore(20)).to.equal(false);
    expect(flights.anyBegunBefore(21)).to.equal(true);
  });

  it('leave apart: those that were being worked on, and those that waited', () => {
    const flights = new InFlightRequests(2);
    for (const id of ['a', 'b', 'c', 'd']) flights.add(batch(id), 0);
    const { begun, waiting } = flights.drain();
    expect([ids(begun), ids(waiting)]).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(flights.tickets).to.deep.equal([]);
  });

  it('are counted with the batch they are in', () => {
    const flights = new InFlightRequests(2);
    const number = flights.add({ ...batch('a', 'a', 'a'), slow: true }, 0);
    flights.add(batch('b', 'b'), 0);
    expect(flights.load).to.deep.equal({ tickets: 5, slow: 1 });
    expect(ids(flights.take(number, 1)?.tickets as QueuedRequest[])).to.deep.equal(['a', 'a', 'a']);
    expect(flights.take(number, 1)).to.equal(undefined);
    expect(flights.load).to.deep.equal({ tickets: 2, slow: 0 });
  });
});

describe('the pace of a transform', () => {
  it('counts as slow until it has shown that it is not', () => {
    const pace = new DurationEstimate();
    expect(pace.slow('a')).to.equal(true);
    pace.note('a', 1);
    expect(pace.slow('a')).to.equal(false);
    for (let i = 0; i < 5; i += 1) pace.note('a', 500);
    expect(pace.slow('a')).to.equal(true);
  });
});
