/** Marks both Redis servers of a move (../move) in a field of `partitionLayout`, which every process reads first and then every few
 *  seconds. A process that finds a marker does not start, or stops. */
import { ConfigError } from '../../../config.ts';

export const MOVE_FIELD = 'move';

export interface MoveMarker {
  /** ID of the move, equal on both sides. */
  id: string;
  role: 'source' | 'target';
  state: 'unfinished' | 'finished';
  /** Host of the other side. */
  other: string;
  /** Unix milliseconds. */
  startedAt: number;
}

/** This Redis is not yet, or no longer, in use. */
class MovedError extends ConfigError {
  override name = 'MovedError';
}

export function readMarker(text: string | null | undefined): MoveMarker | undefined {
  return text ? (JSON.parse(text) as MoveMarker) : undefined;
}

/** @returns why processes must not use this Redis; undefined if they may */
export function refusalOf(marker: MoveMarker | undefined): MovedError | undefined {
  if (!marker || (marker.role === 'target' && marker.state === 'finished')) return undefined;
  if (marker.role === 'target') {
    return new MovedError(
      `The installation is still being moved to this Redis, from ${marker.other}. Repeat \`scripts/start move\` until it has finished`,
    );
  }
  const what =
    marker.state === 'finished'
      ? `The installation was moved from this Redis to ${marker.other}. Set REDIS_CLUSTER_URLS or REDIS_URL to the new one`
      : `The installation is being moved from this Redis to ${marker.other}. Wait until \`scripts/start move\` has finished, or undo it with \`scripts/start move cancel\``;
  return new MovedError(what);
}
