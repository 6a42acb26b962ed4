/** Reports who holds permits of limits and who waits for them, to explain to users why a run does not start. Read-only. */

import { partsOfScoped } from '../../model/apps/scoped-function.ts';
import { addTo } from '../../model/values/counting.ts';
import { sum } from '../../model/values/sum.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import { partsOf } from './admissions.ts';
import { type BacklogInfo, readBacklogInfo } from './backlog-info.ts';

const HOLDERS_SHOWN = 10;
/** Maximum number of holders read per limit. */
const HOLDERS_READ = 200;
/** Maximum number of backlogs counted per function. */
const BACKLOGS_MAX = 10_000;

export interface LimitUse {
  /** Number of calls or runs that hold a permit. */
  inUse: number;
  /** IDs of some of their runs in the asking environment. */
  holders: string[];
  /** Number of holders in other environments, of the holders read; their IDs are confidential. */
  holdersElsewhere: number;
  /** Theoretical time of the throttle's next start (TAT, GCRA), Unix milliseconds; undefined: the next may start immediately. */
  tat?: number;
}

export interface BacklogPosition {
  /** Number of calls before it. */
  ahead: number;
  /** The time at which the call began to wait, minus its priority; Unix milliseconds. */
  since: number;
  /** The limit that holds back the backlog's first call. */
  blockedBy: string | undefined;
}

export interface BacklogUse {
  backlog: string;
  waiting: number;
  /** Like `BacklogPosition.since`, for its first call. */
  since: number;
  blockedBy: string | undefined;
  info: BacklogInfo;
}

export class LimitUsage extends Repository {
  /** Reduces homes to one per partition. */
  inDifferentPartitions(homes: readonly string[]): string[] {
    return [...new Map(homes.map((home) => [this.keys.homeOf(home).number, home])).values()];
  }

  /** Position of the first of the calls that waits in the backlog; undefined if none does. */
  async positionOf(home: string, backlog: string, entries: readonly string[]): Promise<BacklogPosition | undefined> {
    const positions = await this.positionsOf(entries.map((entry) => ({ home, backlog, entry })));
    return positions.find((position) => position !== undefined);
  }

  /** Positions in the order of the calls, read in one pipeline; undefined for a call that does not wait in its backlog. */
  async positionsOf(
    calls: readonly { home: string; backlog: string; entry: string }[],
  ): Promise<(BacklogPosition | undefined)[]> {
    const commands = calls.flatMap(({ home, backlog, entry }) => {
      const keys = this.keys.homeOf(home);
      const key = keys.backlog(...partsOf(backlog));
      return [
        ['zrank', key, entry],
        ['zscore', key, entry],
        ['hget', keys.heldBacklogs, backlog],
      ];
    });
    const found = await inPipelines<number | string | null>(this.redis, commands);
    return calls.map((_, i) => {
      const [ahead, since, blockedBy] = found.slice(3 * i, 3 * i + 3);
      if (ahead === null || since === null) return undefined;
      return {
        ahead: Number(ahead),
        since: Number(since),
        blockedBy: blockedBy == null ? undefined : String(blockedBy),
      };
    });
  }

  /** The result is in the order of the limits.
   *  @param env the asking environment */
  async usesOf(home: string, env: string, limits: readonly string[]): Promise<LimitUse[]> {
    const keys = this.keys.homeOf(home);
    const commands = limits.flatMap((id) => [
      ['scard', keys.limit(id)],
      ['srandmember', keys.limit(id), HOLDERS_READ],
      ['get', keys.throttle(id)],
    ]);
    const found = await inPipelines<unknown>(this.redis, commands);
    const uses = limits.map((_, i) => found.slice(3 * i, 3 * i + 3) as [number, string[], string | null]);
    const own = await this.#ownRunsOf(
      keys,
      env,
      uses.flatMap(([, members]) => members),
    );
    return uses.map(([inUse, members, tat]) => {
      const runs = [...new Set(members.map(runOf))];
      const holders = runs.filter((run) => own.has(run));
      return {
        inUse,
        holders: holders.sort().slice(0, HOLDERS_SHOWN),
        holdersElsewhere: runs.length - holders.length,
        ...(tat !== null && { tat: readTat(tat) }),
      };
    });
  }

  /** @param members members of limits
   *  @returns the runs among them that belong to the environment */
  async #ownRunsOf(keys: PartitionKeyspace, env: string, members: readonly string[]): Promise<Set<string>> {
    const all = [...new Set(members)];
    if (all.length === 0) return new Set();
    const admitted = await this.redis.hmget(keys.admissions, ...all);
    // A permit that was returned in the meantime no longer has an environment.
    return new Set(all.flatMap((member, i) => (admitted[i]?.split('\n')[1] === env ? [runOf(member)] : [])));
  }

  /** The longest backlogs of a function, and the total number of its waiting calls.
   *  @param most maximum number of backlogs read */
  async backlogsOf(
    home: string,
    env: string,
    functionId: string,
    most: number,
  ): Promise<{ waiting: number; longest: BacklogUse[] }> {
    const keys = this.keys.homeOf(home);
    const flat = await this.redis.zrange(
      keys.functionBacklogs(env, functionId),
      0,
      String(BACKLOGS_MAX - 1),
      'REV',
      'WITHSCORES',
    );
    const counts = Array.from({ length: flat.length / 2 }, (_, i) => Number(flat[2 * i + 1]));
    const ids = counts.slice(0, most).map((_, i) => flat[2 * i] as string);
    const commands = ids.flatMap((backlog) => [
      ['get', keys.backlogInfo(...partsOf(backlog))],
      ['zrange', keys.backlog(...partsOf(backlog)), 0, 0, 'WITHSCORES'],
      ['hget', keys.heldBacklogs, backlog],
    ]);
    const found = await inPipelines<unknown>(this.redis, commands);
    const longest = ids.flatMap((backlog, i) => {
      const [info, [, since] = [], blockedBy] = found.slice(3 * i, 3 * i + 3) as [
        string | null,
        string[],
        string | null,
      ];
      if (info === null || since === undefined) return [];
      const use = { backlog, waiting: counts[i] as number, since: Number(since), blockedBy: blockedBy ?? undefined };
      return [{ ...use, info: readBacklogInfo(info) }];
    });
    return { waiting: sum(counts), longest };
  }

  /** Number of waiting calls by function, in all environments. */
  async waitingCalls(): Promise<{ env: string; functionId: string; waiting: number }[]> {
    const all = this.keys.all().map(({ waitingCalls }) => ['hgetall', waitingCalls]);
    const sums = new Map<string, number>();
    for (const counts of await inPipelines<Record<string, string>>(this.redis, all)) {
      for (const [name, count] of Object.entries(counts)) addTo(sums, name, Number(count));
    }
    return [...sums].map(([name, waiting]) => ({ ...partsOfScoped(name), waiting }));
  }
}

function runOf(member: string): string {
  return member.split('/')[0] as string;
}

/** Parses seconds and milliseconds. */
function readTat(text: string): number {
  const [seconds, ms] = text.split(' ').map(Number);
  return (seconds ?? 0) * 1_000 + (ms ?? 0);
}
