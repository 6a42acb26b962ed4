/** Keys of debounces. A debounce is in the partition of its function and key value. */
import { hash, string, zset } from './key-declaration.ts';

export const DEBOUNCE_KEYS = {
  debounces: hash(
    'debounces:<env>:<function ID>',
    'Key value → `ts` and ID of the latest event, IDs of those it replaced.',
    {
      owner: 'flow-control/debounces.ts',
      ttl: 'none; field deleted when the debounce fires',
      size: '1 field per open debounce; 27 bytes per event, last 50',
    },
  ),
  debounceTimes: zset(
    'debounce-times:<env>:<function ID>',
    'Key values with an open debounce, by last extension (ms).',
    { owner: 'flow-control/debounces.ts', ttl: 'none; as the debounce', size: '1 entry per open debounce' },
  ),
  debounceStarts: zset('debounce-starts:<env>:<function ID>', 'The same by first event (ms).', {
    owner: 'flow-control/debounces.ts',
    ttl: 'none; as the debounce',
    size: '1 entry per open debounce',
  }),
  firedDebounces: hash('fired-debounces:<env>:<function ID>', 'Latest event ID → debounce until its run is stored.', {
    owner: 'flow-control/debounces.ts',
    ttl: 'none; field deleted with the creation of the run',
    size: '1 field per fired debounce',
  }),
  firedDebounceTimes: zset(
    'fired-debounce-times:<env>:<function ID>',
    'Fired debounces by when a worker may take them (ms).',
    { owner: 'flow-control/debounces.ts', ttl: 'none; as the fired debounce', size: '1 entry per fired debounce' },
  ),
  lastDebounce: string(
    'last-debounce:<env>:<digest>',
    '`ts` and ID of the latest event of a fired debounce, for a repeated ingest job. `<digest>`: function and key value.',
    { owner: 'flow-control/debounces.ts', ttl: '10 min', size: '40 bytes' },
  ),
  debounceTimerCheck: string('debounce-look:<env>:<function ID>', 'Number of timer checks and time of the next (ms).', {
    owner: 'flow-control/debounces.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
  }),
};
