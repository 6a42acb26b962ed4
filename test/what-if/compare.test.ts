import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Outcome } from '../../src/functions/interpret-response.ts';
import { type ActiveRun, compareActive, comparePast } from '../../src/jobs/what-if/compare.ts';
import { type AskCandidate, type StoredSteps, walk } from '../../src/jobs/what-if/walk.ts';
import type { Pending } from '../../src/model/runs/memo.ts';
import type { Op } from '../../src/model/runs/operation.ts';
import type { Finding } from '../../src/model/what-if/what-if.ts';

const idOf = (name: string) => createHash('sha1').update(name).digest('hex');
const opOf = (name: string, op = 'StepPlanned') => ({ id: idOf(name), op, name, displayName: name }) as Op;

/** A candidate: chains of steps side by side, then steps one after the other. It returns how many there were. */
function candidate(chains: string[][], rest: string[] = [], kinds: Record<string, string> = {}): AskCandidate {
  return async ({ memos }: StoredSteps): Promise<Outcome> => {
    const nextOf = (steps: string[]) => steps.find((name) => !Object.hasOwn(memos, idOf(name)));
    const open = chains.flatMap((chain) => nextOf(chain) ?? []);
    const next = open.length > 0 ? open : [nextOf(rest)].filter((name) => name !== undefined);
    if (next.length > 0) return { kind: 'steps', ops: next.map((name) => opOf(name, kinds[name])) };
    return { kind: 'completed', output: JSON.stringify(chains.flat().length + rest.length) };
  };
}

function stored(finished: string[], open: string[] = []) {
  const names = [...finished, ...open];
  return {
    stack: finished.map(idOf),
    memos: Object.fromEntries(finished.map((name) => [idOf(name), { data: name }])),
    known: new Map(names.map((name) => [idOf(name), { name, op: 'StepRun' }])),
    open: new Set(open.map(idOf)),
  };
}

async function ofActive(ask: AskCandidate, finished: string[], pending: string[], given: Partial<ActiveRun> = {}) {
  const steps = stored(finished, pending);
  const begun: Pending = { op: 'StepPlanned', name: '', since: 0 };
  const run = { ...steps, pending: new Map(pending.map((name) => [idOf(name), begun])), isAnswered: true, ...given };
  const walked = await walk(steps, ask, { open: steps.open, callsMax: 50, supposes: true });
  return shortly(compareActive(run, walked, walked.end));
}

async function ofPast(ask: AskCandidate, finished: string[], open: string[] = []) {
  const steps = stored(finished, open);
  const walked = await walk(steps, ask, { open: steps.open, callsMax: 50 });
  return shortly(comparePast({ ...steps, output: JSON.stringify(finished.length) }, walked));
}

function shortly(found: Finding): string {
  if (!('difference' in found)) return 'result' in found ? found.result : found.skip;
  const { cause, step, unused = [] } = found.difference;
  return [found.result, cause, step?.name, ...unused.map(({ name }) => name)].filter(Boolean).join(' ');
}

describe('A what-if compares', () => {
  it('steps that run side by side in the order in which they finished', async () => {
    const chains = [['a', 'c'], ['b']];
    expect(await ofPast(candidate(chains), ['a', 'c', 'b'])).to.equal('unchanged');
    expect(await ofPast(candidate(chains), ['b', 'a', 'c'])).to.equal('unchanged');
    expect(await ofActive(candidate(chains, ['d']), ['a', 'c', 'b'], ['d'])).to.equal('unchanged');
  });

  it('the order of steps that run one after the other', async () => {
    expect(await ofPast(candidate([], ['b', 'a', 'c']), ['a', 'b', 'c'])).to.equal('changed other_order a');
    expect(await ofActive(candidate([], ['b', 'a', 'c']), ['a', 'b'], ['c'])).to.equal('changed other_order a');
  });

  it('a renamed step, an added one and a removed one of an active run', async () => {
    expect(await ofActive(candidate([], ['z', 'b', 'c']), ['a', 'b'], ['c'])).to.equal('broken results_unused a');
    expect(await ofActive(candidate([], ['a', 'z', 'b', 'c']), ['a', 'b'], ['c'])).to.equal('changed new_step z');
    expect(await ofActive(candidate([], ['a', 'c']), ['a', 'b'], ['c'])).to.equal('broken results_unused b');
    expect(await ofActive(candidate([], ['a', 'b', 'd']), ['a', 'b'], ['c'])).to.equal('changed new_step d');
    expect(await ofActive(candidate([], ['a', 'b']), ['a', 'b'], ['c'])).to.equal('changed ends_earlier');
  });

  it('a renamed step, an added one and a removed one of a completed run', async () => {
    expect(await ofPast(candidate([], ['a', 'z']), ['a', 'b'])).to.equal('changed new_step z');
    expect(await ofPast(candidate([], ['a', 'z', 'b']), ['a', 'b'])).to.equal('changed new_step z');
    expect(await ofPast(candidate([], ['a']), ['a', 'b'])).to.equal('changed results_unused b');
  });

  it('nothing that the present code has not planned yet', async () => {
    const goesOn = candidate([], ['a', 'b', 'c']);
    expect(await ofActive(goesOn, ['a'], [], { isAnswered: false })).to.equal('unchanged');
    expect(await ofActive(candidate([['a', 'c'], ['b']]), ['a'], ['b'], { isAnswered: false })).to.equal('unchanged');
    expect(await ofActive(candidate([], ['a']), ['a'], [], { isAnswered: false })).to.equal('unchanged');
  });

  it('the type of a step with the same ID', async () => {
    const sleeps = candidate([], ['a', 'b'], { a: 'Sleep' });
    expect(await ofActive(sleeps, ['a'], ['b'])).to.equal('changed other_kind a');
    expect(await ofPast(sleeps, ['a', 'b'])).to.equal('changed other_kind a');
  });

  it('an error with that of the last attempt', async () => {
    const error = { name: 'Error', message: 'broken' };
    const fails: AskCandidate = async () => ({ kind: 'failed', error, retriable: true, summary: 'status code: 500' });
    expect(await ofActive(fails, [], [], { error })).to.equal('unchanged');
    expect(await ofActive(fails, [], [])).to.equal('broken throws');
    expect(await ofPast(fails, ['a'])).to.equal('broken throws');
  });

  it('a step that the run had left when it completed', async () => {
    const races: AskCandidate = async ({ memos }) =>
      memos[idOf('a')] ? { kind: 'completed', output: '1' } : { kind: 'steps', ops: [opOf('a'), opOf('left')] };
    expect(await ofPast(races, ['a'], ['left'])).to.equal('unchanged');
    expect(await ofPast(candidate([['a']], ['left']), ['a'], ['left'])).to.equal('changed goes_on');
  });
});
