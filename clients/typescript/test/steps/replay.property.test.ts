import { expect } from 'chai';
import fc from 'fast-check';
import type { Memo } from '../../src/steps/memo.ts';
import type { Op } from '../../src/steps/op.ts';
import { type Body, type Find, type Progress, replay } from '../../src/steps/replay.ts';
import { createStepTools } from '../../src/steps/tools.ts';
import type { StepTools } from '../../src/steps/types.ts';

const toolsOf = (find: Find) =>
  createStepTools({
    find,
    runId: 'r',
    sendEvents: async () => {},
    sendSignal: async () => null,
    publish: async () => {},
  });

/** A function's code as data: sequential and parallel steps, some after other awaits. */
type Code =
  | { kind: 'run'; does: 'work' | 'sleep' | 'fail'; id: string; turns: number }
  | { kind: 'sequence'; parts: Code[] }
  | { kind: 'parallel'; parts: Code[] };

const { code } = fc.letrec<{ code: Code; step: Code; group: Code }>((tie) => ({
  code: fc.oneof({ maxDepth: 4, withCrossShrink: true }, tie('step'), tie('group')),
  step: fc.record({
    kind: fc.constant('run'),
    does: fc.constantFrom('work', 'work', 'sleep', 'fail'),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    turns: fc.nat({ max: 3 }),
  }),
  group: fc.record({ kind: fc.constantFrom('sequence', 'parallel'), parts: fc.array(tie('code'), { maxLength: 5 }) }),
}));

/** The expected result. Numbers repeated IDs by position, so that steps are distinct in any order. */
async function interpret(code: Code, step: StepTools, place: string, onRun: (id: string) => void): Promise<unknown> {
  if (code.kind === 'sequence') {
    const results: unknown[] = [];
    for (const [n, part] of code.parts.entries()) results.push(await interpret(part, step, `${place}.${n}`, onRun));
    return results;
  }
  if (code.kind === 'parallel') {
    return Promise.all(code.parts.map((part, n) => interpret(part, step, `${place}.${n}`, onRun)));
  }
  const { does, turns } = code;
  const id = `${code.id}${place}`;
  for (let turn = 0; turn < turns; turn++) await undefined;
  if (does === 'sleep') return step.sleep(id, '1h').then(() => `slept ${id}`);
  const run = step.run(id, () => {
    onRun(id);
    if (does === 'fail') throw new Error(`${id} fails`);
    return `ran ${id}`;
  });
  return does === 'fail' ? run.catch((error: Error) => error.message) : run;
}

/** A fake service: finishes planned steps in the order of `choose`. A failing step has one attempt. */
async function runToEnd(body: Body, choose: (count: number) => number): Promise<{ output: unknown; calls: number }> {
  const memos: Record<string, Memo> = {};
  const order: string[] = [];
  const planned = new Map<string, Op>();
  const store = (id: string, memo: Memo) => {
    planned.delete(id);
    if (id in memos) return;
    memos[id] = memo;
    order.push(id);
  };
  const call = (requestedStep?: string): Promise<Progress> =>
    replay(
      {
        runId: 'r',
        memos: { ...memos },
        order: [...order],
        requestedStep,
        disableImmediateExecution: planned.size > 0,
      },
      body,
    );
  const take = (ops: Op[]) => {
    for (const op of ops) {
      if (op.op === 'StepRun') store(op.id, { data: op.data });
      else if (op.op === 'StepError') store(op.id, { error: op.error });
      else if (!(op.id in memos)) planned.set(op.id, op);
    }
  };

  for (let calls = 1; ; calls++) {
    const progress = await call();
    if (progress.kind === 'failed') throw progress.error;
    if (progress.kind === 'done') return { output: progress.output, calls };
    take(progress.ops);
    for (let n = Math.min(planned.size, 1 + choose(3)); n > 0; n--) {
      const op = [...planned.values()][choose(planned.size)] as Op;
      if (op.op === 'Sleep') {
        store(op.id, null);
      } else {
        const outcome = await call(op.id);
        if (outcome.kind !== 'ops')
          throw new Error(`Step ${op.displayName} was asked for, and the call ended otherwise`);
        take(outcome.ops);
      }
    }
  }
}

function bodyOf(code: Code, onRun: (id: string) => void): Body {
  return (find) => interpret(code, toolsOf(find), '', onRun);
}

/** Runs every tool at once: the result of the code without a service. */
const atOnce = {
  run: async (_id: string, fn: () => unknown) => fn(),
  sleep: async () => {},
} as unknown as StepTools;

describe('A replayed function', () => {
  it('has the same result and runs each step once, for any order of step completion', async () => {
    await fc.assert(
      fc.asyncProperty(code, fc.infiniteStream(fc.nat({ max: 1_000 })), async (program, choices) => {
        const expected = await interpret(program, atOnce, '', () => {});
        const ran: string[] = [];
        const choose = (count: number) => (choices.next().value as number) % count;
        const { output } = await runToEnd(
          bodyOf(program, (id) => ran.push(id)),
          choose,
        );
        expect(output).to.deep.equal(expected);
        expect(new Set(ran).size, 'steps that ran twice').to.equal(ran.length);
      }),
      { numRuns: 300 },
    );
  });

  it('has the same winner of a race in every later call, whatever else finishes meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 4 }), { minLength: 2, maxLength: 5 }),
        fc.infiniteStream(fc.nat({ max: 1_000 })),
        async (lengths, choices) => {
          const winners = new Set<number>();
          const body: Body = async (find) => {
            const step = toolsOf(find);
            const branches = lengths.map(async (length, branch) => {
              for (let n = 0; n <= length; n++) await step.run(`${branch}.${n}`, () => n);
              return branch;
            });
            const winner = await Promise.race(branches);
            winners.add(winner);
            for (let n = 0; n < 3; n++) await step.sleep(`after ${n}`, 1);
            return winner;
          };
          const { output } = await runToEnd(body, (count) => (choices.next().value as number) % count);
          expect([...winners]).to.deep.equal([output]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('distinguishes steps with the same ID in parallel branches, whichever branch continues first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 4 }), { minLength: 2, maxLength: 5 }),
        fc.infiniteStream(fc.nat({ max: 1_000 })),
        async (lengths, choices) => {
          const ran: string[] = [];
          const work = (branch: number, n: number) => () => ran[ran.push(`${branch}.${n}`) - 1];
          const body: Body = (find) => {
            const step = toolsOf(find);
            const branches = lengths.map(async (length, branch) => {
              const results: unknown[] = [];
              for (let n = 0; n <= length; n++) results.push(await step.run('work', work(branch, n)));
              return results;
            });
            return Promise.all(branches);
          };
          const { output } = await runToEnd(body, (count) => (choices.next().value as number) % count);
          const expected = lengths.map((length, branch) =>
            Array.from({ length: length + 1 }, (_, n) => `${branch}.${n}`),
          );
          expect(output).to.deep.equal(expected);
          expect([...ran].sort()).to.deep.equal(expected.flat().sort());
        },
      ),
      { numRuns: 100 },
    );
  });

  it('gives up on a requested step that does not appear while the code waits for others', async () => {
    const body: Body = (find) => toolsOf(find).run('other', () => {});
    const call = { runId: 'r', memos: {}, order: [], requestedStep: 'f'.repeat(40), disableImmediateExecution: true };
    const progress = await replay(call, body, 1);
    expect(progress).to.have.property('kind', 'ops');
    const [op] = (progress as Extract<Progress, { kind: 'ops' }>).ops;
    expect(op).to.include({ op: 'StepNotFound', id: call.requestedStep });
    expect(op?.error?.message).to.include('"other"');
  });

  it('inside a step of another function is not part of that step', async () => {
    const memos = {};
    const call = { runId: 'r', memos, order: [], requestedStep: undefined, disableImmediateExecution: false };
    const inner: Body = (find) => toolsOf(find).run('inner', () => 7);
    const outer: Body = (find) => toolsOf(find).run('outer', () => replay(call, inner));
    const progress = await replay(call, outer);
    expect(JSON.stringify(progress)).to.include('"data":7');
  });

  it('replays a thousand steps in linear time', async () => {
    const body: Body = async (find) => {
      const step = toolsOf(find);
      const results = await Promise.all(Array.from({ length: 500 }, (_, n) => step.run(`wide ${n}`, () => n)));
      for (let n = 0; n < 20; n++) results.push(await step.run('deep', () => n));
      return results.length;
    };
    const { output, calls } = await runToEnd(body, (count) => count - 1);
    expect(output).to.equal(520);
    expect(calls).to.be.lessThan(600);
  });
});
