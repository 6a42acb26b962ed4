/** Keys of the runs room, and constants for its scripts (redis/connection/script-source.ts). */
import { hash, type KeyDeclaration, list, string, zset } from './key-declaration.ts';

/** Lengths of the segments of ended runs: a run is in the first segment of its time with room (ended-run-index.ts). */
export const SEGMENT_LENGTHS_MS = [60_000, 1_000, 50] as const;

const run = hash('run:<env>:<run ID>', 'Run (`store/keys/run-fields.ts`).', {
  owner: 'runs/runs.ts',
  ttl: 'none while active, then retention',
  size: 'output, error and about 15 short fields; packed: up to 64 more',
});

/** Parts of a run that outlive its end: they expire with it, and the archive has each in a column of its name (runs/run-parts.ts).
 *  `changesIn`: a part may change after the end of its run, which shows in this field; '': in any of its fields.
 *  `bytesIn`: the field that has its bytes. */
export const KEPT_PARTS = {
  memos: hash('run:<env>:<run ID>:memos', 'Hashed step ID → memo, as JSON.', {
    owner: 'runs/steps.ts',
    ttl: 'as the run',
    size: '1,000 steps',
  }),
  stack: list('run:<env>:<run ID>:stack', 'Hashed IDs of finished steps, in order.', {
    owner: 'runs/run-parts.ts',
    ttl: 'as the run',
    size: '1 entry per finished step',
  }),
  history: list('run:<env>:<run ID>:history', 'Attempts and steps in the order they ended, as JSON lists.', {
    owner: 'runs/runs.ts',
    ttl: 'as the run',
    size: '1 entry per attempt and step',
  }),
  metadata: hash('run:<env>:<run ID>:metadata', 'Target and kind → last change; with a name → value, as JSON.', {
    owner: 'runs/run-metadata.ts',
    ttl: 'as the run',
    size: '500 fields, 64 KiB',
    changesIn: '',
  }),
  logs: hash('run:<env>:<run ID>:logs', 'Log lines by number, as JSON; counts; IDs of stored batches.', {
    owner: 'runs/run-logs.ts',
    ttl: 'as the run',
    size: '1,000 lines, 256 KiB, 1,000 batch IDs',
    changesIn: 'm',
    bytesIn: 'b',
  }),
};
export type KeptPart = keyof typeof KEPT_PARTS;

/** Parts of an active run. */
const ACTIVE_PARTS = {
  pending: hash('run:<env>:<run ID>:pending', 'Hashed step ID → unfinished step, as JSON.', {
    owner: 'runs/steps.ts',
    ttl: 'deleted when the run ends',
    size: '1 field per unfinished step',
  }),
  leftOver: hash('run:<env>:<run ID>:left-over', 'Steps of an ended run whose jobs are to be removed.', {
    owner: 'runs/unfinished-ends.ts',
    ttl: 'as the run; deleted with the jobs',
    size: '1 field per pending step',
  }),
  defers: hash(
    'run:<env>:<run ID>:defers',
    'ID → function to run after this run, and its input, as JSON; empty: aborted.',
    { owner: 'runs/defers.ts', ttl: 'deleted when the run ends', size: '1,000 fields; with memos 32 MiB' },
  ),
  requests: hash(
    'run:<env>:<run ID>:requests',
    'Hashed step ID → HTTP request of the step, encrypted with `SECRET_KEY`.',
    {
      owner: 'runs/sealed-requests.ts',
      ttl: 'deleted when the run ends',
      size: '1 field per open request; with memos 32 MiB',
    },
  ),
  waitsOfRun: hash('run:<env>:<run ID>:waits', '`<run ID>/<step>` → keys that hold the wait, as JSON.', {
    owner: 'runs/waits.ts',
    ttl: 'deleted when the run ends',
    size: '1 field per wait',
  }),
};

export const RUN_KEYS = {
  run,
  ...KEPT_PARTS,
  ...ACTIVE_PARTS,
  restoredRun: string(
    'restored-run:<env>:<run ID>',
    'Finished steps of an archived run, for a re-run from one of them.',
    {
      owner: 'runs/restored-steps.ts',
      ttl: '1 h; deleted once copied',
      size: 'empty; `:memos` and `:stack` as of a run',
    },
  ),
  offloadedRuns: hash(
    'offloaded-runs:<env>',
    'ID of a run that Postgres has → when it returns and in which version (`runs/lua/lib/run-contents.lua`). Only with an archive.',
    { owner: 'runs/offloaded-runs.ts', ttl: 'none', size: '1 field per run that sleeps for longer than `HOT_HOURS`' },
  ),
  offloadedRunsByFunction: hash('offloaded-runs-by-function:<env>', 'Function ID → number of its offloaded runs.', {
    owner: 'runs/offloaded-runs.ts',
    ttl: 'none',
    size: '1 field per function that has any',
  }),
  offloadedRunsSeen: hash(
    'offloaded-runs-seen',
    'Number of offloaded runs, and when the first that is due should have returned (ms).',
    { owner: 'runs/offloaded-run-alarms.ts', ttl: 'none', size: '2 fields' },
  ),
  activeRuns: zset('active-runs', '`<env>/<run ID>` by next reconciliation (ms).', {
    owner: 'runs/active-runs.ts',
    ttl: 'none',
    size: '1 entry per active run',
  }),
  unfinishedEnds: zset(
    'unfinished-ends',
    '`<env>/<run ID>` of ended runs that still have jobs or waiting parents, by end (ms).',
    { owner: 'runs/unfinished-ends.ts', ttl: 'none', size: '1 entry per such run' },
  ),
  activeRunsIn: zset('active-runs:<env>', 'Active runs by creation (ms).', {
    owner: 'runs/active-runs.ts',
    ttl: 'none',
    size: '1 entry per active run',
  }),
  pinnedRuns: zset('active-runs:<env>:<version>', 'Active runs that end on a version of an app, by creation (ms).', {
    owner: 'apps/app-versions.ts',
    ttl: 'none',
    size: '1 entry per such run',
  }),
  rampEnds: hash('active-runs:<env>:<version>:ends', 'How runs end on a version that ramps up.', {
    owner: 'apps/app-versions.ts',
    ttl: '1 day, renewed while the version ramps up',
    size: '4 fields',
  }),
  pausedRuns: zset('active-runs:<env>:paused', 'Paused runs by creation (ms).', {
    owner: 'runs/paused-runs.ts',
    ttl: 'none',
    size: '1 entry per paused run',
  }),
  endedRuns: list(
    'ended-runs:<env>:<ending>:<segment>',
    '`<run ID><ms since the minute began>` of runs created in the segment `<length ms>:<start ms>`, in the order they ended.',
    {
      owner: 'runs/ended-run-index.ts',
      ttl: 'retention + 1 min, renewed',
      size: '1,000 entries; unlimited in the shortest segments',
    },
  ),
  endedRunMinutes: zset('ended-run-minutes:<env>:<ending>', 'Minutes that have an `ended-runs` key, by start (ms).', {
    owner: 'runs/ended-run-index.ts',
    ttl: 'retention + 1 min, renewed',
    size: '1 entry per minute',
  }),
  runIndex: zset(
    'runs:<env>:<group>:<function ID>',
    'Runs of a function, active or by how they ended, by creation (ms).',
    { owner: 'runs/run-lists.ts', ttl: 'active: none; ended: retention, renewed', size: '1 entry per run' },
  ),
  eventRuns: hash(
    'event-runs:<env>:<slice>',
    'Rest of the event ID → its run IDs, concatenated. `<slice>` as in `event-bucket`.',
    { owner: 'runs/event-runs.ts', ttl: 'retention, renewed', size: '1 field per event with runs' },
  ),
  overflowEventRuns: string(
    'overflow-event-runs:<env>:<event ID>',
    'Run IDs of another day than their event, concatenated.',
    { owner: 'runs/event-runs.ts', ttl: 'retention, renewed', size: '26 bytes per run' },
  ),
  waits: hash('waits:<env>:<event name>', '`<run ID>/<step>` → wait without a required value, as JSON.', {
    owner: 'runs/waits.ts',
    ttl: 'last timeout + 24 h',
    size: '1 field per wait',
  }),
  waitsByValue: hash(
    'waits-by-value:<env>:<digest>:<event name>',
    'The same with a required value; `<digest>` is of both (`model/runs/wait-index.ts`).',
    { owner: 'runs/waits.ts', ttl: 'last timeout + 24 h', size: '1 field per wait' },
  ),
  waitPaths: hash('wait-paths:<env>:<event name>', 'Path of a field, as JSON → waits found by its value.', {
    owner: 'runs/waits.ts',
    ttl: 'last timeout + 24 h',
    size: '16 fields',
  }),
  invocationClaim: string(
    'invocation-claim:<env>:<digest>',
    'Event of the first invocation with the idempotency key; `+` follows once its run is started.',
    { owner: 'runs/invocation-claims.ts', ttl: '24 h', size: '27 bytes' },
  ),
  signal: hash('signals:<env>:<signal>', '`<run ID>/<step>` that waits for the signal.', {
    owner: 'runs/signals.ts',
    ttl: 'timeout + 24 h',
    size: '1 field',
  }),
};

/** Suffixes of the keys of parts, appended to the key of their run. */
export const RUN_SUFFIXES = Object.fromEntries(
  Object.entries({ ...KEPT_PARTS, ...ACTIVE_PARTS }).map(([name, { pattern }]) => [
    name,
    pattern.slice(run.pattern.length),
  ]),
) as Record<KeptPart | keyof typeof ACTIVE_PARTS, string>;

/** Appended to the key of an environment's active runs. */
export const PAUSED_RUNS_SUFFIX = RUN_KEYS.pausedRuns.pattern.slice(RUN_KEYS.activeRunsIn.pattern.length);

/** Appended to the key of the active runs that end on a version. */
export const RAMP_ENDS_SUFFIX = RUN_KEYS.rampEnds.pattern.slice(RUN_KEYS.pinnedRuns.pattern.length);

const kept = Object.entries<KeyDeclaration & { changesIn?: string; bytesIn?: string }>(KEPT_PARTS);

/** Data about kept parts for scripts (runs/lua/lib/kept-parts.lua); '-': not applicable. */
export const SCRIPTED_PARTS = kept.map(([name, { type, changesIn = '-', bytesIn = '-' }]) => {
  return [RUN_SUFFIXES[name as KeptPart], type === 'list' ? 'list' : 'hash', changesIn, bytesIn];
});

/** Suffixes of all keys that expire with an ended run. */
export const ENDED_SUFFIXES = ['', ...SCRIPTED_PARTS.map(([suffix = '']) => suffix), RUN_SUFFIXES.leftOver];
