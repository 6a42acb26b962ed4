/** A duty with a lease, of several processes in a test. */
import { type Duty, duty, type Round } from '../../src/duties/duty.ts';

export interface LeasedDutyDeps {
  round(round: Round): Promise<void>;
}

export function leasedDuty(leaseMs: number): Duty<LeasedDutyDeps> {
  return duty<LeasedDutyDeps>({
    name: 'test',
    about: 'Is part of a test',
    scope: 'installation',
    everyMs: 20,
    leaseMs,
    rounds: (deps) => (round) => deps.round(round),
  });
}
