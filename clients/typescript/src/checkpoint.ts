/** The option `checkpoint` of functions and clients. */
import { refuseUnknown } from './options.ts';
import { type Duration, timeString, timeStringMs } from './steps/duration.ts';

export interface CheckpointOptions {
  /** How many finished steps are stored together. If the app dies, finished steps that are not stored yet run again: at most one less than
   *  this. Default: 1, so a finished step never runs again. */
  buffer?: number | undefined;
  /** After this time, the call ends with its current step, and the service makes another call. Default: 10 seconds. */
  maxRuntime?: Duration | undefined;
}

/** true: the call stores each step and continues; false: each step ends its call. */
export type Checkpoint = boolean | CheckpointOptions;

const DEFAULT_MAX_RUNTIME = '10s';
const MAX_BUFFER = 100;

/** @throws TypeError */
export function checkCheckpoint(of: string, given: unknown): Checkpoint | undefined {
  if (given === undefined || typeof given === 'boolean') return given;
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(
      `${of}: checkpoint must be true, false or { buffer, maxRuntime }, got ${JSON.stringify(given)}`,
    );
  }
  refuseUnknown(`${of}: checkpoint`, given, ['buffer', 'maxRuntime']);
  const { buffer = 1, maxRuntime = DEFAULT_MAX_RUNTIME } = given as CheckpointOptions;
  if (!Number.isInteger(buffer) || buffer < 1 || buffer > MAX_BUFFER) {
    throw new TypeError(
      `${of}: checkpoint.buffer must be a whole number from 1 to ${MAX_BUFFER}, got ${JSON.stringify(buffer)}`,
    );
  }
  const runtimeMs = typeof maxRuntime === 'string' ? timeStringMs(maxRuntime) : maxRuntime;
  if (!(Number.isFinite(runtimeMs) && (runtimeMs as number) >= 0)) {
    throw new TypeError(
      `${of}: checkpoint.maxRuntime must be a duration such as "10s", got ${JSON.stringify(maxRuntime)}`,
    );
  }
  return given;
}

/** The options with defaults. */
export function readCheckpoint({ buffer = 1, maxRuntime = DEFAULT_MAX_RUNTIME }: CheckpointOptions) {
  return { buffer, maxRuntimeMs: timeStringMs(timeString(maxRuntime)) as number };
}
