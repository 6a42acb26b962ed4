/** Metrics over time: counts and latencies of each environment in steps of a minute and of an hour, and the runs of each function by
 *  hour. A hash holds a block of time steps. Its fields are `<step within the block><letter>`, for latencies followed by the bucket. Jobs of queues
 *  are counted by minute. */

import { sum } from '../../model/values/sum.ts';
import { floorTo, HOUR_MS, MINUTE_MS } from '../../model/values/time.ts';
import { type Redis, replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import {
  type BufferedCounts,
  COUNTERS,
  type CounterBuffer,
  type Counts,
  emptyCounts,
  emptyHistograms,
  emptyRunCounts,
  type Histograms,
  JOB_OUTCOMES,
  type JobCounts,
  LATENCIES,
  RUN_COUNTERS,
  type RunCounts,
} from './counter-buffer.ts';
import { type Resolution, readHashes, startsOf } from './time-blocks.ts';

export const METRICS_KEPT_MS = 7 * 24 * HOUR_MS;
const JOBS_KEPT_MS = 10 * MINUTE_MS;

const FINE: Resolution = { stepMs: MINUTE_MS, blockMs: 5 * MINUTE_MS };
const COARSE: Resolution = { stepMs: HOUR_MS, blockMs: HOUR_MS };

const LETTERS = {
  events: 'e',
  duplicates: 'd',
  runsStarted: 's',
  runsCompleted: 'c',
  runsFailed: 'f',
  runsCancelled: 'x',
};
const LATENCY_LETTERS = { ack: 'a', start: 'l' };
const COUNTER_BY_LETTER = new Map(COUNTERS.map((counter) => [LETTERS[counter], counter]));
const LATENCY_BY_LETTER = new Map(LATENCIES.map((latency) => [LATENCY_LETTERS[latency], latency]));
const FIELD = /^(\d+)([a-z])(\d*)$/;

/** Counts of one step, from `at` (Unix milliseconds) until the next. */
export interface Point {
  at: number;
  counts: Counts;
  histograms: Histograms;
}

export interface HourlyRuns extends RunCounts {
  functionId: string;
  /** When its last run started, to the second; undefined: not in these hours. */
  lastStartedAt: number | undefined;
  /** One number per hour, oldest first. */
  startedByHour: number[];
  failedByHour: number[];
}

/** The field of a function's last start, next to the fields of its counters. */
const LAST = 'last';

export class Metrics extends Repository {
  /** Adds the counts atomically. */
  async add(buffer: CounterBuffer, nowMs: number): Promise<void> {
    const writing = this.redis.multi();
    for (const [env, counts] of buffer.environments) {
      for (const resolution of [FINE, COARSE]) this.#addSteps(writing, env, counts, resolution, nowMs);
      this.#addFunctions(writing, env, counts, nowMs);
    }
    this.#addJobs(writing, buffer.queues, nowMs);
    if (writing.length > 0) replies(await writing.exec());
  }

  #addSteps(
    writing: ReturnType<Redis['multi']>,
    env: string,
    { counts, histograms }: BufferedCounts,
    { stepMs, blockMs }: Resolution,
    nowMs: number,
  ): void {
    const block = floorTo(nowMs, blockMs);
    const key = this.keys.metrics(env, stepMs, block);
    const step = Math.floor((nowMs - block) / stepMs);
    for (const counter of COUNTERS) {
      if (counts[counter] > 0) writing.hincrby(key, `${step}${LETTERS[counter]}`, counts[counter]);
    }
    for (const latency of LATENCIES) {
      for (const [bucket, count] of histograms[latency].entries()) {
        if (count > 0) writing.hincrby(key, `${step}${LATENCY_LETTERS[latency]}${bucket}`, count);
      }
    }
    writing.pexpire(key, METRICS_KEPT_MS + 2 * blockMs);
  }

  #addFunctions(writing: ReturnType<Redis['multi']>, env: string, { functions }: BufferedCounts, nowMs: number): void {
    if (functions.size === 0) return;
    const key = this.keys.functionMetrics(env, floorTo(nowMs, HOUR_MS));
    for (const [id, counts] of functions) {
      for (const counter of RUN_COUNTERS) {
        if (counts[counter] > 0) writing.hincrby(key, `${counter} ${id}`, counts[counter]);
      }
      if (counts.started > 0) writing.hset(key, `${LAST} ${id}`, nowMs);
    }
    writing.pexpire(key, METRICS_KEPT_MS + 2 * HOUR_MS);
  }

  #addJobs(writing: ReturnType<Redis['multi']>, queues: CounterBuffer['queues'], nowMs: number): void {
    if (queues.size === 0) return;
    const key = this.keys.queueMetrics(floorTo(nowMs, MINUTE_MS));
    for (const [queue, counts] of queues) {
      for (const outcome of JOB_OUTCOMES) {
        if (counts[outcome] > 0) writing.hincrby(key, `${queue} ${outcome}`, counts[outcome]);
      }
    }
    writing.pexpire(key, JOBS_KEPT_MS);
  }

  /** Attempts of jobs that ended since a time, by queue. @param since start of a minute, at most 5 minutes ago */
  async jobs(since: number, nowMs: number): Promise<(queue: string) => JobCounts> {
    const keys = startsOf(since, nowMs + 1, MINUTE_MS).map((minute) => this.keys.queueMetrics(minute));
    const minutes = await readHashes(this.redis, keys);
    const total = (field: string) => sum(minutes, (fields) => Number(fields[field] ?? 0));
    return (queue) => ({ completed: total(`${queue} completed`), failed: total(`${queue} failed`) });
  }

  /** Every time step from `from` to `to`, including those without counts.
   *  @param stepMs whole minutes that divide an hour, or whole hours */
  async steps(env: string, from: number, to: number, stepMs: number): Promise<Point[]> {
    const points = new Map<number, Point>();
    if (from >= to) return [];
    for (let at = floorTo(from, stepMs); at < to; at += stepMs) {
      points.set(at, { at, counts: emptyCounts(), histograms: emptyHistograms() });
    }
    const resolution = stepMs % HOUR_MS === 0 ? COARSE : FINE;
    const blocks = startsOf(from, to, resolution.blockMs);
    const hashes = await readHashes(
      this.redis,
      blocks.map((block) => this.keys.metrics(env, resolution.stepMs, block)),
    );
    for (const [i, fields] of hashes.entries()) {
      for (const [field, value] of Object.entries(fields)) {
        const [, step, letter = '', bucket] = FIELD.exec(field) ?? [];
        const at = (blocks[i] as number) + Number(step) * resolution.stepMs;
        const point = points.get(floorTo(at, stepMs));
        if (point) addField(point, letter, Number(bucket), Number(value));
      }
    }
    return [...points.values()];
  }

  /** Runs of each function that had any, over the hours that overlap the time range. */
  async functions(env: string, from: number, to: number): Promise<HourlyRuns[]> {
    const hours = startsOf(from, to, HOUR_MS);
    const hashes = await readHashes(
      this.redis,
      hours.map((hour) => this.keys.functionMetrics(env, hour)),
    );
    const found = new Map<string, HourlyRuns>();
    for (const [hour, fields] of hashes.entries()) {
      for (const [field, value] of Object.entries(fields)) {
        const space = field.indexOf(' ');
        const functionId = field.slice(space + 1);
        const runs = found.get(functionId) ?? emptyRuns(functionId, hours.length);
        addHour(runs, hour, field.slice(0, space) as keyof RunCounts | typeof LAST, Number(value));
        found.set(functionId, runs);
      }
    }
    return [...found.values()];
  }
}

function emptyRuns(functionId: string, hours: number): HourlyRuns {
  const [startedByHour, failedByHour] = [new Array<number>(hours).fill(0), new Array<number>(hours).fill(0)];
  return { functionId, ...emptyRunCounts(), lastStartedAt: undefined, startedByHour, failedByHour };
}

function addHour(runs: HourlyRuns, hour: number, name: keyof RunCounts | typeof LAST, value: number): void {
  if (name === LAST) {
    runs.lastStartedAt = Math.max(value, runs.lastStartedAt ?? 0);
    return;
  }
  runs[name] += value;
  if (name === 'started') runs.startedByHour[hour] = value;
  if (name === 'failed') runs.failedByHour[hour] = value;
}

function addField(point: Point, letter: string, bucket: number, value: number): void {
  const counter = COUNTER_BY_LETTER.get(letter);
  if (counter) point.counts[counter] += value;
  const latency = LATENCY_BY_LETTER.get(letter);
  if (!latency) return;
  const histogram = point.histograms[latency];
  histogram[bucket] = (histogram[bucket] ?? 0) + value;
}
