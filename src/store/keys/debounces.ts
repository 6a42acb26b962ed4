/** Keys of debounces. A debounce is in the partition of its function and key value. */
import type { KeyDeclaration } from './key-declaration.ts';

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
    ttl: 'none; field deleted when the debounce fires',
    size: '1 field per open debounce; 27 bytes per event, last 50',
    description: 'Key value → `ts` and ID of the latest event, IDs of those it replaced.',
  },
  debounceTimes: {
    pattern: 'debounce-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the debounce',
    size: '1 entry per open debounce',
    description: 'Key values with an open debounce, by last extension (ms).',
  },
  debounceStarts: {
    pattern: 'debounce-starts:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the debounce',
    size: '1 entry per open debounce',
    description: 'The same by first event (ms).',
  },
  firedDebounces: {
    pattern: 'fired-debounces:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; field deleted with the creation of the run',
    size: '1 field per fired debounce',
    description: 'Latest event ID → debounce until its run is stored.',
  },
  firedDebounceTimes: {
    pattern: 'fired-debounce-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the fired debounce',
    size: '1 entry per fired debounce',
    description: 'Fired debounces by when a worker may take them (ms).',
  },
  lastDebounce: {
    pattern: 'last-debounce:<env>:<digest>',
    type: 'string',
    owner: 'flow-control/debounces.ts',
    ttl: '10 min',
    size: '40 bytes',
    description:
      '`ts` and ID of the latest event of a fired debounce, so that a repeated ingest job decides the same. `<digest>`: function and key value.',
  },
  debounceLook: {
    pattern: 'debounce-look:<env>:<function ID>',
    type: 'string',
    owner: 'flow-control/debounces.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
    description: 'Number of timer checks and time of the next (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof debounceKeys>, KeyDeclaration>;
