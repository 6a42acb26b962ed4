/** Keys of decisions. They are in the partition of their event. */
import { hash, string } from './key-declaration.ts';

/** Lengths of the event ID prefixes by which decisions share a hash: 9 hours, 17 minutes, 33 s, 1 s, 32 ms, 1 ms, and fractions of that.
 *  Decisions about an event are in the first hash with room. */
export const DECISION_PREFIX_LENGTHS = [5, 6, 7, 8, 9, 10, 11, 12] as const;

export const DECISION_KEYS = {
  decisions: hash(
    'decisions:<env>:<ID prefix>',
    'Event ID without its first 2 bytes → decisions (`model/flow-control/decision-encoding.ts`). `<ID prefix>`: as few first characters of event IDs as have room.',
    {
      owner: 'flow-control/decisions.ts',
      ttl: 'retention, renewed',
      size: '256 fields of 64 bytes; unlimited under the longest prefixes',
    },
  ),
  overflowDecisions: string(
    'overflow-decisions:<env>:<event ID>',
    'Decisions about an event that has many, or an ID of another day.',
    { owner: 'flow-control/decisions.ts', ttl: 'retention, renewed', size: '8 KiB' },
  ),
};
