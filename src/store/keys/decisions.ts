/** Keys of decisions. They are in the partition of their event. */
import type { KeyDeclaration } from './key-declaration.ts';

/** Lengths of the event ID prefixes by which decisions share a hash: 9 hours, 17 minutes, 33 s, 1 s, 32 ms, 1 ms, and fractions of that.
 *  Decisions about an event are in the first hash with room. */
export const DECISION_PREFIX_LENGTHS = [5, 6, 7, 8, 9, 10, 11, 12] as const;

export const decisionKeys = (prefix: string) => ({
  decisions: (env: string, idPrefix: string) => `${prefix}:decisions:${env}:${idPrefix}`,
  overflowDecisions: (env: string, eventId: string) => `${prefix}:overflow-decisions:${env}:${eventId}`,
});

export const DECISION_KEY_DECLARATIONS = {
  decisions: {
    pattern: 'decisions:<env>:<ID prefix>',
    type: 'hash',
    owner: 'flow-control/decisions.ts',
    ttl: 'retention, renewed',
    size: '256 fields of 64 bytes; unlimited under the longest prefixes',
    description:
      'Event ID without its first 2 bytes → decisions (`model/flow-control/decision-encoding.ts`). `<ID prefix>`: as few first characters of event IDs as have room.',
  },
  overflowDecisions: {
    pattern: 'overflow-decisions:<env>:<event ID>',
    type: 'string',
    owner: 'flow-control/decisions.ts',
    ttl: 'retention, renewed',
    size: '8 KiB',
    description: 'Decisions about an event that has many, or an ID of another day.',
  },
} as const satisfies Record<keyof ReturnType<typeof decisionKeys>, KeyDeclaration>;
