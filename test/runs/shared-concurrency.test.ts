import { expect } from 'chai';
import fc from 'fast-check';
import { SharedConcurrency } from '../../src/workers/shared-concurrency.ts';

/** A worker that runs as many of its queue's jobs as it may. */
class FakeWorker {
  capacity = Number.POSITIVE_INFINITY;
  jobs = 0;
  resize(capacity: number): void {
    this.capacity = capacity;
  }
}

describe('Workers of several partitions that share the concurrency of a process', () => {
  let shared: SharedConcurrency;
  let workers: FakeWorker[];
  let waiting: number;
  beforeEach(() => {
    waiting = 0;
  });

  function share(total: number, count: number): void {
    shared = new SharedConcurrency(total, () => waiting);
    workers = Array.from({ length: count }, () => new FakeWorker());
    for (const worker of workers) shared.add(worker);
  }
  function run(worker: FakeWorker | undefined, jobs: number): void {
    if (!worker) throw new Error('no such worker');
    worker.jobs = jobs;
    shared.report(worker, jobs);
  }
  const capacities = () => workers.map(({ capacity }) => capacity);

  it('may each use all of it while the others have no jobs', () => {
    share(100, 4);
    run(workers[0], 99);
    expect(capacities()).to.deep.equal([100, 100, 100, 100]);
  });

  it('run their shares once the rest is used up, and more when a quarter of it is free again', () => {
    share(100, 4);
    run(workers[0], 100);
    expect(capacities()).to.deep.equal([25, 25, 25, 25]);
    run(workers[1], 25);
    run(workers[0], 82);
    expect(capacities()).to.deep.equal([25, 25, 25, 25]);
    run(workers[0], 81);
    expect(capacities()).to.deep.equal([100, 100, 100, 100]);
  });

  it('have other shares when a worker comes or goes', () => {
    share(100, 4);
    run(workers[0], 100);
    const another = new FakeWorker();
    shared.add(another);
    expect([...capacities(), another.capacity]).to.deep.equal([20, 20, 20, 20, 20]);
    shared.remove(another);
    shared.remove(workers.pop() as FakeWorker);
    expect(capacities()).to.deep.equal([34, 34, 34]);
    shared.remove(workers.shift() as FakeWorker);
    expect(capacities()).to.deep.equal([100, 100]);
  });

  it('do not count jobs that leave their room to others', () => {
    share(100, 4);
    waiting = 50;
    run(workers[0], 100);
    expect(capacities()).to.deep.equal([100, 100, 100, 100]);
    waiting = 0;
    run(workers[1], 1);
    expect(capacities()).to.deep.equal([25, 25, 25, 25]);
  });

  it('are not limited when there is one', () => {
    share(100, 1);
    run(workers[0], 100);
    expect(capacities()).to.deep.equal([100]);
  });

  it('never run more than all of it and a share each, and never wait below their share', () => {
    const turns = fc.array(
      fc.record({ worker: fc.nat(), isEnd: fc.boolean(), count: fc.integer({ min: 1, max: 16 }) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 40 }), turns, (total, count, all) => {
        share(total, count);
        const each = Math.ceil(total / count);
        for (const { worker: n, isEnd, count: jobs } of all) {
          const worker = workers[n % count] as FakeWorker;
          // It takes jobs one by one, each time if it has room.
          for (let i = 0; i < jobs; i++) {
            if (isEnd) run(worker, Math.max(0, worker.jobs - 1));
            else if (worker.jobs < worker.capacity) run(worker, worker.jobs + 1);
          }
          expect(workers.reduce((sum, one) => sum + one.jobs, 0)).to.be.at.most(total + each * count);
          expect(Math.min(...capacities())).to.be.at.least(each);
        }
      }),
    );
  });
});
