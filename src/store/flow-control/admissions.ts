/** Permits of limits: which calls hold them, and which calls wait for them. One script takes all limits of a call or none; calls with the same
 *  limits wait in one backlog (lua/lib/admission.lua). A permit is held as long as the call's job is alive: it is not bound to a worker, because
 *  another worker takes over the job of a dead worker. The scripts derive their keys: `backlog`, `backlogInfo`, `functionBacklogs`, `limit`,
 *  `limitBacklogs`, `throttle`. */
import { partsOfScoped, scopedFunction } from '../../model/apps/scoped-function.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import { type BacklogInfo, readBacklogInfo, writeBacklogInfo } from './backlog-info.ts';

export interface CallToAdmit {
  /** `<run ID>/<call>` */
  entry: string;
  /** Number of the job's executions. */
  executions: number;
  /** Milliseconds; lower scores come first. */
  score: number;
  /** `<env>:<digest>` */
  backlog: string;
  info: BacklogInfo;
}

export interface EndedCall {
  entry: string;
  /** Number of executions of its job; undefined: whichever execution has the call. */
  executions?: number;
}

export interface AdmittedCall {
  env: string;
  functionId: string;
  entry: string;
}

/** Calls and throttles that a script unblocked in one partition. */
export interface Progress {
  partition: number;
  /** Time before the script ran, by this process's clock. */
  askedAt: number;
  admitted: AdmittedCall[];
  /** Throttles with a backlog, and when their next call may start, Unix milliseconds. */
  throttles: { limit: string; at: number }[];
  /** Limits that can admit more calls: `advance` continues with them. */
  unfinished: string[];
}

interface Claim {
  /** No other worker gets the check before this time, Unix milliseconds by Redis's clock. A later change to what is checked sets another
   *  time. */
  claimedUntil: number;
}

/** A due check of a call or run that holds permits. */
export type DueAdmission = Claim & { kind: 'admission'; entry: string; env: string; functionId: string };

/** A due check of an admission, of a limit, or of a function whose configuration has changed. */
export type DueCheck =
  | DueAdmission
  | (Claim & { kind: 'limit'; limit: string })
  | (Claim & { kind: 'function'; env: string; functionId: string; member: string; isKnown: boolean });

type Reply = [granted: string[], throttles: (string | number)[], unfinished: string[]];

const CHECKED_AT_ONCE = 200;
const CLAIM_MS = 10_000;
/** After this time every process has a new configuration. */
const KNOWN_MS = 2_500;

export class Admissions extends Repository<
  ScriptedRedis,
  {
    /** After this time an admission is checked, because its job may be lost. */
    checkMs: number;
  }
> {
  /** The partition in which the limits of a home are counted. */
  partitionOf(home: string): number {
    return this.keys.homeOf(home).number;
  }

  /** Admits calls, or adds them to their backlogs. All must be in one partition.
   *  @returns for each, whether it is admitted; and other calls that were admitted */
  async admit(
    partition: number,
    calls: readonly CallToAdmit[],
  ): Promise<{ isAdmitted: boolean[]; progress: Progress }> {
    const keys = this.keys.partition(partition);
    const askedAt = Date.now();
    const pipeline = this.redis.pipeline();
    for (const { entry, executions, score, backlog, info } of calls) {
      pipeline.admit(...this.#args(keys), entry, executions, score, backlog, writeBacklogInfo(info));
    }
    const found = replies<[admitted: number, ...Reply]>(await pipeline.exec());
    return {
      isAdmitted: found.map(([admitted]) => admitted === 1),
      progress: together(
        partition,
        askedAt,
        found.map(([, ...reply]) => reply),
      ),
    };
  }

  /** Returns the permits of a call or a run.
   *  @param executions number of executions of the job that ended; undefined: whichever execution has the call
   *  @param claimedUntil set by a check that found no job: permits stay if the call was admitted again since */
  async release(
    partition: number,
    entry: string,
    { executions, claimedUntil }: { executions?: number | undefined; claimedUntil?: number } = {},
  ): Promise<Progress> {
    const keys = this.keys.partition(partition);
    const args = [...this.#args(keys), entry, executions ?? '', ...(claimedUntil ? [claimedUntil] : [])] as const;
    return progressOf(partition, this.redis.releaseAdmission(...args));
  }

  /** Returns the permits of several ended calls. */
  async releaseAll(partition: number, ended: readonly EndedCall[]): Promise<Progress> {
    const keys = this.keys.partition(partition);
    const askedAt = Date.now();
    const pipeline = this.redis.pipeline();
    for (const { entry, executions } of ended) {
      pipeline.releaseAdmission(...this.#args(keys), entry, executions ?? '');
    }
    return together(partition, askedAt, replies<Reply>(await pipeline.exec()));
  }

  async advance(partition: number, limit: string): Promise<Progress> {
    const keys = this.keys.partition(partition);
    return progressOf(partition, this.redis.advanceLimit(...this.#args(keys), limit));
  }

  async withdraw(partition: number, backlog: string, entries: readonly string[]): Promise<Progress> {
    const keys = this.keys.partition(partition);
    return progressOf(partition, this.redis.withdrawCalls(...this.#args(keys), backlog, ...entries));
  }

  async isAdmitted(partition: number, entry: string): Promise<boolean> {
    return (await this.redis.hexists(this.keys.partition(partition).admissions, entry)) === 1;
  }

  /** Non-empty backlogs of a function. */
  async backlogsOf(
    partition: number,
    env: string,
    functionId: string,
  ): Promise<{ backlog: string; info: BacklogInfo }[]> {
    const keys = this.keys.partition(partition);
    const backlogs = await this.redis.zrange(keys.functionBacklogs(env, functionId), 0, '-1');
    const commands = backlogs.map((backlog) => ['get', keys.backlogInfo(...partsOf(backlog))]);
    const texts = await inPipelines<string | null>(this.redis, commands);
    return backlogs.flatMap((backlog, i) => (texts[i] ? [{ backlog, info: readBacklogInfo(texts[i]) }] : []));
  }

  /** The first waiting calls, with their scores. */
  async waiting(partition: number, backlog: string, count: number): Promise<{ entry: string; score: number }[]> {
    const key = this.keys.partition(partition).backlog(...partsOf(backlog));
    const found = await this.redis.zrange(key, 0, String(count - 1), 'WITHSCORES');
    return Array.from({ length: found.length / 2 }, (_, i) => ({
      entry: found[2 * i] as string,
      score: Number(found[2 * i + 1]),
    }));
  }

  async change(partition: number, backlog: string, info: BacklogInfo): Promise<Progress> {
    const keys = this.keys.partition(partition);
    return progressOf(partition, this.redis.changeBacklog(...this.#args(keys), backlog, writeBacklogInfo(info)));
  }

  /** Schedules a check that adapts the function's backlogs to its changed configuration. */
  async noteChange(homes: readonly string[], env: string, functionIds: readonly string[]): Promise<void> {
    const partitions = new Set(homes.map((home) => this.keys.homeOf(home)));
    const checks = functionIds.flatMap((id) => {
      const name = scopedFunction(env, id);
      return [0, `~${name}`, KNOWN_MS, `~~${name}`];
    });
    await Promise.all([...partitions].map((keys) => this.redis.scheduleChecks(keys.admissionChecks, ...checks)));
  }

  /** Due checks, claimed so that no other worker gets them for a while. */
  async claimChecks(partition: number): Promise<DueCheck[]> {
    const { admissions, admissionChecks } = this.keys.partition(partition);
    const [claimedUntil, ...found] = (await this.redis.claimChecks(
      admissions,
      admissionChecks,
      CLAIM_MS,
      CHECKED_AT_ONCE,
    )) as [string, ...string[]];
    return Array.from({ length: found.length / 2 }, (_, i) => ({
      claimedUntil: Number(claimedUntil),
      ...checkOf(found[2 * i] as string, found[2 * i + 1] as string),
    }));
  }

  async doneChecking(partition: number, check: DueCheck): Promise<void> {
    if (check.kind !== 'function') return;
    const { admissionChecks } = this.keys.partition(partition);
    await this.redis.removeCheck(admissionChecks, check.member, check.claimedUntil);
  }

  /** Schedules the next check of an admission that is in order.
   *  @param forMs time from the claim of this check to the next check */
  async keep(partition: number, { entry, claimedUntil }: DueAdmission, forMs = this.deps.checkMs): Promise<void> {
    const { admissionChecks } = this.keys.partition(partition);
    await this.redis.zadd(admissionChecks, 'XX', Math.floor(claimedUntil) - CLAIM_MS + forMs, entry);
  }

  #args({ admissions, prefix }: PartitionKeyspace): [string, string, number] {
    return [admissions, prefix, this.deps.checkMs];
  }
}

export function partsOf(backlog: string): [env: string, digest: string] {
  const colon = backlog.lastIndexOf(':');
  return [backlog.slice(0, colon), backlog.slice(colon + 1)];
}

function checkOf(member: string, admission: string) {
  if (member.startsWith('!')) return { kind: 'limit' as const, limit: member.slice(1) };
  if (member.startsWith('~')) {
    const isKnown = member.startsWith('~~');
    return { kind: 'function' as const, ...partsOfScoped(member.slice(isKnown ? 2 : 1)), member, isKnown };
  }
  const [, env = '', ...rest] = admission.split('\n');
  return { kind: 'admission' as const, entry: member, env, functionId: rest.slice(0, -1).join('\n') };
}

async function progressOf(partition: number, running: Promise<unknown>): Promise<Progress> {
  const askedAt = Date.now();
  return together(partition, askedAt, [(await running) as Reply]);
}

function together(partition: number, askedAt: number, all: readonly Reply[]): Progress {
  const progress: Progress = { partition, askedAt, admitted: [], throttles: [], unfinished: [] };
  for (const [granted, throttles, unfinished] of all) {
    for (let i = 0; i < granted.length; i += 3) {
      const [env, functionId, entry] = granted.slice(i, i + 3) as [string, string, string];
      progress.admitted.push({ env, functionId, entry });
    }
    for (let i = 0; i < throttles.length; i += 2) {
      progress.throttles.push({ limit: String(throttles[i]), at: Number(throttles[i + 1]) });
    }
    progress.unfinished.push(...unfinished);
  }
  return progress;
}
