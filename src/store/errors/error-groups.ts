/** Error groups: how often runs of a function failed for the same reason, and when. Each partition counts its own runs,
 *  and atomically removes the mark of a counted run: so each failed run counts once, no matter which process ended it
 *  or how often its end is repeated. */

import {
  ERROR_GROUP_STATES,
  type ErrorGroup,
  type ErrorGroupState,
  HOURS_KEPT,
  mergedGroup,
  SAMPLES_MAX,
} from '../../model/errors/error-group.ts';
import type { Run } from '../../model/runs/run.ts';
import type { RunError } from '../../model/runs/run-error.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { countDistinct } from '../redis/hyperloglog.ts';
import { luaJson } from '../redis/lua-json.ts';
import { isOlder, newest, newestFirst, type Position } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import { errorGroupOf } from './error-group-fields.ts';

/** A group is removed this long after its last failure. */
const ERROR_GROUP_TTL_MS = 30 * 24 * HOUR_MS;
/** Maximum per function in each partition. */
const PER_FUNCTION_MAX = 100;
const PER_ENVIRONMENT_MAX = 1_000;
/** If partitions have different states of a group, the first of these counts. */
const MERGED_STATES = ['ignored', 'open', 'resolved'] as const satisfies ErrorGroupState[];
const MESSAGE_MAX = 1_000;
const STEP_MAX = 256;

export interface ErrorGroupQuery {
  /** undefined: all functions. */
  functionId?: string | undefined;
  states?: readonly ErrorGroupState[] | undefined;
}

export class ErrorGroups extends Repository {
  /** Counts a failed run that is marked as uncounted.
   *  @param step name of the step that failed
   *  @param user the user whom the run's event concerns; undefined: unknown
   *  @returns whether it was counted */
  async record(
    { env, id: runId, functionId }: Pick<Run, 'env' | 'id' | 'functionId'>,
    {
      fingerprint,
      step,
      error,
      user,
    }: { fingerprint: string; step?: string | undefined; error: RunError; user?: string | undefined },
    nowMs: number,
  ): Promise<boolean> {
    const keys = this.keys.of(runId);
    const args = {
      fingerprint,
      functionId: functionId.toWellFormed(),
      runId,
      ...(step !== undefined && { step: step.slice(0, STEP_MAX) }),
      name: error.name,
      message: error.message.slice(0, MESSAGE_MAX),
      ...(user !== undefined && { user }),
      at: nowMs,
      hour: Math.floor(nowMs / HOUR_MS),
      hoursKept: HOURS_KEPT,
      samplesMax: SAMPLES_MAX,
      ofFunctionMax: PER_FUNCTION_MAX,
      ofEnvironmentMax: PER_ENVIRONMENT_MAX,
      ttlMs: ERROR_GROUP_TTL_MS,
    };
    const happened = await this.redis.recordFailure(
      keys.run(env, runId),
      keys.errorGroup(env, fingerprint),
      keys.errorGroupUsers(env, fingerprint),
      keys.functionErrorGroups(env, args.functionId),
      ...ERROR_GROUP_STATES.map((state) => keys.errorGroups(env, state)),
      luaJson(args),
    );
    return happened !== 0;
  }

  /** All positions, newest last failure first; there are few.
   *  @param query its states are ignored if it names a function */
  async positions(env: string, { functionId, states = ERROR_GROUP_STATES }: ErrorGroupQuery): Promise<Position[]> {
    if (functionId !== undefined) {
      return this.#merged(this.keys.all().map((keys) => keys.functionErrorGroups(env, functionId.toWellFormed())));
    }
    const known = new Set<string>();
    const found: Position[] = [];
    for (const state of MERGED_STATES) {
      const inState = await this.#merged(this.keys.all().map((keys) => keys.errorGroups(env, state)));
      // Partitions may differ (`mergedGroup`).
      const merged = inState.filter(({ id }) => !known.has(id));
      for (const { id } of merged) known.add(id);
      if (states.includes(state)) found.push(...merged);
    }
    return newestFirst(found);
  }

  /** Fingerprints of open groups with a failure since a time, latest failure first. */
  async recent(env: string, sinceMs: number, limit: number): Promise<string[]> {
    const keys = this.keys.all().map(({ errorGroups }) => errorGroups(env, 'open'));
    const found = await newest(this.redis, keys, { after: sinceMs }, limit * keys.length);
    return [...new Set(found.map(({ id }) => id))].slice(0, limit);
  }

  async #merged(indexes: readonly string[]): Promise<Position[]> {
    const found = await inPipelines<string[]>(
      this.redis,
      indexes.map((key) => ['zrange', key, 0, -1, 'WITHSCORES']),
    );
    const latest = new Map<string, number>();
    for (const entries of found) {
      for (let i = 0; i < entries.length; i += 2) {
        const id = entries[i] as string;
        latest.set(id, Math.max(latest.get(id) ?? 0, Number(entries[i + 1])));
      }
    }
    return newestFirst([...latest].map(([id, at]) => ({ id, at })));
  }

  /** The result is in the order of the fingerprints; undefined for unknown groups. */
  async read(env: string, fingerprints: readonly string[]): Promise<(ErrorGroup | undefined)[]> {
    const partitions = this.keys.all();
    const commands = fingerprints.flatMap((fingerprint) =>
      partitions.map((keys) => ['hgetall', keys.errorGroup(env, fingerprint)]),
    );
    const found = await inPipelines<Record<string, string>>(this.redis, commands);
    return fingerprints.map((fingerprint, i) => {
      const parts = found
        .slice(i * partitions.length, (i + 1) * partitions.length)
        .flatMap((fields) => errorGroupOf(fingerprint, fields) ?? []);
      const [first, ...others] = parts;
      return first && mergedGroup([first, ...others]);
    });
  }

  /** Approximate number of users whom the events of its runs concern. */
  async countUsers(env: string, fingerprint: string): Promise<number> {
    const reads = this.keys.all().map((keys) => this.redis.getBuffer(keys.errorGroupUsers(env, fingerprint)));
    return countDistinct((await Promise.all(reads)).filter((value) => value !== null));
  }

  /** @returns whether the group had another state in any partition */
  async change(
    env: string,
    fingerprint: string,
    to: ErrorGroupState,
    by: NonNullable<ErrorGroup['stateChangedBy']>,
    nowMs: number,
  ): Promise<boolean> {
    const [group] = await this.read(env, [fingerprint]);
    if (!group) return false;
    const changes = await Promise.all(
      this.keys.all().map((keys) => {
        const indexes = ERROR_GROUP_STATES.map((state) => keys.errorGroups(env, state));
        const args = [fingerprint, to, JSON.stringify(by), nowMs, ERROR_GROUP_TTL_MS, group.reopened];
        return this.redis.changeErrorGroup(keys.errorGroup(env, fingerprint), ...indexes, ...args);
      }),
    );
    return changes.includes(1);
  }

  /** @param channels names of alert channels; undefined: those of the rule */
  async setAlertChannels(env: string, fingerprint: string, channels: readonly string[] | undefined): Promise<void> {
    const text = channels === undefined ? '' : JSON.stringify(channels);
    const changes = this.keys
      .all()
      .map((keys) => this.redis.setErrorGroupChannels(keys.errorGroup(env, fingerprint), text));
    await Promise.all(changes);
  }
}

/** The positions after a cursor. */
export function after(positions: readonly Position[], cursor: Position | undefined): Position[] {
  return cursor ? positions.filter((position) => isOlder(position, cursor)) : [...positions];
}
