import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DEFAULT_LIMITS, memoryBounds } from '../../src/transforms/protocol.ts';
import { until } from '../support/until.ts';
import { fieldsOf, REQUEST, returning, transformChildren, webhook, withTransforms } from './support.ts';

const MB = 1_048_576;
const BOUNDS = memoryBounds({ ...DEFAULT_LIMITS, threads: 2, timeoutMs: 5_000 });

/** Holds this many MB as long as its isolate lives, or would if anything outlived a request. */
const holding = (mb: number) =>
  webhook(`const held = [];
function transform() { for (let i = 0; i < ${mb}; i++) held.push(new Array(131072).fill(i)); return { n: held.length } }`);

function memoryOfChildren(): number {
  return Math.max(
    0,
    ...transformChildren().map((pid) => {
      try {
        return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
      } catch {
        return 0;
      }
    }),
  );
}

describe('Memory of a transform process', () => {
  if (process.platform !== 'linux') return;

  it('stays within its bound when 60 webhooks use nearly the limit of one', async () => {
    await withTransforms({ timeoutMs: 5_000, totalTimeoutMs: 60_000 }, async (transforms, lines) => {
      let highest = 0;
      const watch = setInterval(() => {
        highest = Math.max(highest, memoryOfChildren());
      }, 100);
      try {
        const webhooks = Array.from({ length: 60 }, () => holding(45));
        const all = await Promise.all(webhooks.map((webhook) => transforms.run(webhook, REQUEST)));
        for (const { returned: event } of all) expect(event).to.deep.equal({ n: 45 });
      } finally {
        clearInterval(watch);
      }
      highest = Math.max(highest, memoryOfChildren());
      expect(highest).to.be.within(1, BOUNDS.kill);
      expect(lines.filter(({ level }) => level >= 40)).to.deep.equal([]);
      await until(() => memoryOfChildren() < BOUNDS.replace, { describe: 'memory has shrunk' });
    });
  });

  it('shrinks when webhooks are deleted', async () => {
    await withTransforms({ timeoutMs: 5_000, totalTimeoutMs: 60_000, threads: 1 }, async (transforms) => {
      await transforms.run(holding(1), REQUEST);
      const before = memoryOfChildren();
      const webhooks = Array.from({ length: 20 }, () => holding(8));
      for (const one of webhooks) await transforms.run(one, REQUEST);
      const cached = memoryOfChildren();
      expect(cached - before).to.be.greaterThan(50 * MB);
      for (const { id } of webhooks) transforms.evict(id);
      await until(() => memoryOfChildren() - before < (cached - before) / 3, { describe: 'memory has shrunk' });
    });
  });

  it('is reclaimed by replacing the process gracefully, without a failed request', async () => {
    const limits = { batchesPerChild: 20 };
    await withTransforms({ timeoutMs: 5_000, limits }, async (transforms, lines) => {
      const quick = returning('return { n: evt.n }');
      await transforms.run(quick, REQUEST);
      const [first] = transformChildren();
      for (let round = 0; transformChildren().includes(first as number); round += 1) {
        const sent = await Promise.all(
          Array.from({ length: 8 }, (_, n) => transforms.run(quick, { ...REQUEST, body: { n } })),
        );
        expect(sent.map((outcome) => fieldsOf(outcome).n)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
        expect(round).to.be.below(5_000);
      }
      expect(lines.filter(({ msg }) => msg.includes('process exited'))).to.deep.equal([]);
    });
  });
});
