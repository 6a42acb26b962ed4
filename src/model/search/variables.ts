/** The variables of searches. */

/** `text`, `time` (Unix milliseconds) and `json` (a value with fields, if any). */
export type VariableType = 'text' | 'time' | 'json';
export type SearchKind = 'events' | 'runs';

const EVENT_VARIABLES = {
  name: 'text',
  id: 'text',
  internal_id: 'text',
  source: 'text',
  ts: 'time',
  received_at: 'time',
  data: 'json',
  user: 'json',
  v: 'text',
} as const satisfies Record<string, VariableType>;

const RUN_VARIABLES = {
  run_id: 'text',
  function_id: 'text',
  status: 'text',
  error: 'text',
  queued_at: 'time',
  ended_at: 'time',
  output: 'json',
} as const satisfies Record<string, VariableType>;

/** Fingerprint of a failed run's error. Filters read it; people's searches cannot. */
export const FINGERPRINT = 'fingerprint';
/** The version of its app on which a run ends, likewise. */
export const APP_VERSION = 'app_version';

/** Conditions on runs name the variables of the run's event with this prefix. */
export const EVENT_PREFIX = 'event.';

const eventVariables = Object.entries(EVENT_VARIABLES);
export const VARIABLES: Readonly<Record<SearchKind, ReadonlyMap<string, VariableType>>> = {
  events: new Map<string, VariableType>(eventVariables),
  runs: new Map<string, VariableType>([
    ...Object.entries(RUN_VARIABLES),
    ...eventVariables.map(([name, type]) => [EVENT_PREFIX + name, type] as const),
  ]),
};
