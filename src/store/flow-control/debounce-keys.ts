/** Keys of debounces. A debounce is in the partition of its function and the value of its key. */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const debounceKeys = (prefix: string) => ({
  debounces: (env: string, functionId: string) => `${prefix}:debounces:${env}:${functionId}`,
  debounceTimes: (env: string, functionId: string) => `${prefix}:debounce-times:${env}:${functionId}`,
  debounceStarts: (env: string, functionId: string) => `${prefix}:debounce-starts:${env}:${functionId}`,
  firedDebounces: (env: string, functionId: string) => `${prefix}:fired-debounces:${env}:${functionId}`,
  firedDebounceTimes: (env: string, functionId: string) => `${prefix}:fired-debounce-times:${env}:${functionId}`,
  lastDebounce: (env: string, digest: string) => `${prefix}:last-debounce:${env}:${digest}`,
  debounceLook: (env: string, functionId: string) => `${prefix}:debounce-look:${env}:${functionId}`,
});

export const DEBOUNCE_KEY_DECLARATIONS = {
  debounces: {
    pattern: 'debounces:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; a field is deleted when its debounce fires',
    size: '1 field per open debounce, 27 bytes for each of the last 50 events',
    description: 'Value of the key → `ts` and ID of the latest event, and IDs of events that it replaced.',
  },
  debounceTimes: {
    pattern: 'debounce-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the debounce',
    size: '1 entry per open debounce',
    description: 'Values of keys that have an open debounce, by the time at which it was last extended (ms).',
  },
  debounceStarts: {
    pattern: 'debounce-starts:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the debounce',
    size: '1 entry per open debounce',
    description: 'The same by the time of the first event (ms).',
  },
  firedDebounces: {
    pattern: 'fired-debounces:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; a field is deleted when the run is created',
    size: '1 field per debounce whose run is created now',
    description: 'ID of the latest event → the debounce.',
  },
  firedDebounceTimes: {
    pattern: 'fired-debounce-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the fired debounce',
    size: '1 entry per fired debounce',
    description: 'The same debounces by the time at which a worker may take them (ms).',
  },
  lastDebounce: {
    pattern: 'last-debounce:<env>:<digest>',
    type: 'string',
    owner: 'flow-control/debounces.ts',
    ttl: '10 min',
    size: '40 bytes per debounce that has fired',
    description:
      '`ts` and ID of the latest event with which a debounce fired: an ingest job that runs again finds that its event was decided about. `<digest>` stands for function and value of the key.',
  },
  debounceLook: {
    pattern: 'debounce-look:<env>:<function ID>',
    type: 'string',
    owner: 'flow-control/debounces.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
    description: 'How often a timer has looked at the debounces of the function, and when the next one will (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof debounceKeys>, KeyDeclaration>;
