import { expect } from 'chai';
import { type Environment, isSameEnvironment } from '../../src/model/environment.ts';

describe('The environment that a request is authorized for', () => {
  const branch: Environment = { name: 'x', kind: 'branch', createdAt: 1 };
  const named: Environment = { name: 'x', kind: 'named', createdAt: 1 };
  for (const [title, proven, present, expected] of [
    ['is the same after a change of its limits', branch, { ...branch, eventMaxBytes: 9, archivedAt: 2 }, true],
    ['is another one when it was made anew', branch, { ...branch, createdAt: 2 }, false],
    ['is another one when its kind differs', branch, named, false],
    ['is no more when it was deleted', branch, undefined, false],
    ['is still none of that name', undefined, undefined, true],
    ['may have become a branch', undefined, branch, true],
    ['cannot have become a named environment', undefined, named, false],
  ] as const) {
    it(title, () => expect(isSameEnvironment(proven, present)).to.equal(expected));
  }
});
