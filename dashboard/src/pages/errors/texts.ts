import type { ErrorGroup } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';
import type { Tone } from '../../ui/status-badge.tsx';

type State = ErrorGroup['state'];
interface Action {
  /** Last part of the path of its request. */
  verb: 'resolve' | 'ignore' | 'reopen';
  label: string;
  done: string;
  icon: IconName;
  meaning: string;
}

export const STATES: Record<State, [Tone, IconName, meaning: string]> = {
  open: ['bad', 'warning', 'Runs fail with it'],
  resolved: ['good', 'check', 'It is over. The next failure reopens it'],
  ignored: ['neutral', 'pause', 'Failures are counted, and alert nobody'],
};

const RESOLVE: Action = {
  verb: 'resolve',
  label: 'Resolve',
  done: 'Error resolved',
  icon: 'check',
  meaning: 'It is over. The next failure reopens it',
};
const IGNORE: Action = {
  verb: 'ignore',
  label: 'Ignore',
  done: 'Error ignored',
  icon: 'pause',
  meaning: 'Failures are counted, but do not reopen it, and alert nobody',
};
const REOPEN: Action = {
  verb: 'reopen',
  label: 'Reopen',
  done: 'Error reopened',
  icon: 'retry',
  meaning: 'It is listed again',
};

/** What can be done with an error in this state. */
export const ACTIONS: Record<State, readonly Action[]> = {
  open: [RESOLVE, IGNORE],
  resolved: [REOPEN],
  ignored: [REOPEN],
};
