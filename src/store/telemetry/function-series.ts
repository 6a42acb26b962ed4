/** Functions over time: counts and durations of each function's runs, and durations of its steps. A hash holds a block of time steps, few
 *  enough for Redis's compact encoding. Fields of runs are `<time step within the block><letter>`, for durations followed by the bucket;
 *  of steps `<time step>.<number of the step><letter>`. Each resolution is kept for as long as it is shown. */
import type { Durations } from '../../model/capacity/percentiles.ts';
import { addTo } from '../../model/values/counting.ts';
import { DAY_MS, floorTo, HOUR_MS, MINUTE_MS } from '../../model/values/time.ts';
import { type Redis, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import {
  type BufferedFunction,
  emptyFunctionCounts,
  FUNCTION_COUNTERS,
  type FunctionBuffer,
  type FunctionCounts,
  OTHER_STEPS,
  STEP_NAMES_MAX,
  type StepCounts,
} from './function-buffer.ts';
import type { RecentDurations } from './recent-durations.ts';
import { type Resolution, readHashes, startsOf } from './time-blocks.ts';

export const FUNCTION_SERIES_KEPT_MS = 7 * DAY_MS;

interface ShownResolution extends Resolution {
  /** How far back this resolution is shown. */
  shownMs: number;
}

/** Blocks divide a day, because steps are numbered by day. */
const RUN_RESOLUTIONS: readonly ShownResolution[] = [
  { stepMs: MINUTE_MS, blockMs: 10 * MINUTE_MS, shownMs: 6 * HOUR_MS },
  { stepMs: 5 * MINUTE_MS, blockMs: 30 * MINUTE_MS, shownMs: DAY_MS },
  { stepMs: HOUR_MS, blockMs: 4 * HOUR_MS, shownMs: FUNCTION_SERIES_KEPT_MS },
];
const STEP_RESOLUTIONS: readonly ShownResolution[] = [
  { stepMs: 5 * MINUTE_MS, blockMs: 15 * MINUTE_MS, shownMs: DAY_MS },
  { stepMs: HOUR_MS, blockMs: HOUR_MS, shownMs: FUNCTION_SERIES_KEPT_MS },
];

const LETTERS = { started: 's', completed: 'c', failed: 'f', cancelled: 'x', attemptsFailed: 'a' } as const;
const COUNTER_BY_LETTER = new Map(FUNCTION_COUNTERS.map((counter) => [LETTERS[counter] as string, counter]));
const DURATION = 'd';
const STEP_FAILED = 'f';
const RUN_FIELD = /^(\d+)([a-z])(\d*)$/;
const STEP_FIELD = /^(\d+)\.(\d+)([a-z])(\d*)$/;
/** Maximum number of commands per transaction. */
const COMMANDS_MAX = 1_000;

export interface FunctionPoint {
  /** Start of the time step, Unix milliseconds. */
  at: number;
  counts: FunctionCounts;
  durations: Durations;
}

export interface StepPoint extends StepCounts {
  at: number;
}

/** Counts of a step, or of OTHER_STEPS. Points without counts are omitted. */
export interface StepSeries {
  name: string;
  points: StepPoint[];
}

type Transaction = ReturnType<Redis['multi']>;

export class FunctionSeries extends Repository<ScriptedRedis, { recent: RecentDurations }> {
  /** Adds the functions' counts, several functions at a time, and removes written ones from the buffer.
   *  @throws Redis's error; the rest stays in the buffer */
  async add(buffer: FunctionBuffer, nowMs: number): Promise<void> {
    const functions = [...buffer.entries()];
    const numbers = await this.#numberSteps(functions, nowMs);
    let writing = this.redis.multi();
    let written: [env: string, id: string][] = [];
    for (const [i, [env, id, counted]] of functions.entries()) {
      for (const resolution of RUN_RESOLUTIONS) this.#addRuns(writing, env, id, counted, resolution, nowMs);
      const steps = [...counted.steps.values()].map(
        (counts, s) => [numbers[i]?.[s] ?? STEP_NAMES_MAX, counts] as const,
      );
      this.deps.recent.add(writing, { env, id, counted, nowMs });
      if (steps.length > 0) {
        for (const resolution of STEP_RESOLUTIONS) this.#addSteps(writing, env, id, steps, resolution, nowMs);
      }
      written.push([env, id]);
      if (writing.length < COMMANDS_MAX && i < functions.length - 1) continue;
      replies(await writing.exec());
      for (const entry of written) buffer.delete(...entry);
      writing = this.redis.multi();
      written = [];
    }
  }

  /** The numbers are read every time: an environment may be deleted, and another one get its name. */
  async #numberSteps(functions: readonly [string, string, BufferedFunction][], nowMs: number): Promise<number[][]> {
    const reading = this.redis.pipeline();
    const asked = functions.map(([env, id, { steps }]) => {
      const names = [...steps.keys()].filter((name) => name !== OTHER_STEPS);
      if (names.length === 0) return undefined;
      const key = this.keys.stepNumbers(env, floorTo(nowMs, DAY_MS), id);
      reading.numberSteps(key, STEP_NAMES_MAX, FUNCTION_SERIES_KEPT_MS + 2 * DAY_MS, ...names);
      return names;
    });
    if (reading.length === 0) return functions.map(() => []);
    const found = replies<number[]>(await reading.exec());
    let at = 0;
    return functions.map(([, , { steps }], i) => {
      const numbers = asked[i] ? (found[at++] as number[]) : [];
      let next = 0;
      return [...steps.keys()].map((name) => (name === OTHER_STEPS ? STEP_NAMES_MAX : (numbers[next++] as number)));
    });
  }

  #addRuns(
    writing: Transaction,
    env: string,
    id: string,
    { counts, durations }: BufferedFunction,
    { stepMs, blockMs, shownMs }: ShownResolution,
    nowMs: number,
  ): void {
    const before = writing.length;
    const block = floorTo(nowMs, blockMs);
    const key = this.keys.functionSeries(env, stepMs, block, id);
    const step = Math.floor((nowMs - block) / stepMs);
    for (const counter of FUNCTION_COUNTERS) {
      if (counts[counter] > 0) writing.hincrby(key, `${step}${LETTERS[counter]}`, counts[counter]);
    }
    for (const [bucket, count] of durations) writing.hincrby(key, `${step}${DURATION}${bucket}`, count);
    if (writing.length > before) writing.pexpire(key, shownMs + 2 * blockMs);
  }

  #addSteps(
    writing: Transaction,
    env: string,
    id: string,
    steps: readonly (readonly [number: number, counts: StepCounts])[],
    { stepMs, blockMs, shownMs }: ShownResolution,
    nowMs: number,
  ): void {
    const block = floorTo(nowMs, blockMs);
    const key = this.keys.stepSeries(env, stepMs, block, id);
    const at = Math.floor((nowMs - block) / stepMs);
    for (const [number, { failed, durations }] of steps) {
      if (failed > 0) writing.hincrby(key, `${at}.${number}${STEP_FAILED}`, failed);
      for (const [bucket, count] of durations) writing.hincrby(key, `${at}.${number}${DURATION}${bucket}`, count);
    }
    writing.pexpire(key, shownMs + 2 * blockMs);
  }

  /** Every time step from `from` to `to`, including those without counts.
   *  @param stepMs a result of `timeStepOf` */
  async runs(env: string, functionId: string, from: number, to: number, stepMs: number): Promise<FunctionPoint[]> {
    const { blockMs } = RUN_RESOLUTIONS.find((resolution) => resolution.stepMs === stepMs) as ShownResolution;
    const points = new Map<number, FunctionPoint>();
    for (let at = floorTo(from, stepMs); at < to; at += stepMs) {
      points.set(at, { at, counts: emptyFunctionCounts(), durations: new Map() });
    }
    const blocks = startsOf(from, to, blockMs);
    const hashes = await readHashes(
      this.redis,
      blocks.map((block) => this.keys.functionSeries(env, stepMs, block, functionId)),
    );
    for (const [i, fields] of hashes.entries()) {
      for (const [field, value] of Object.entries(fields)) {
        const [, step, letter = '', bucket] = RUN_FIELD.exec(field) ?? [];
        const point = points.get((blocks[i] as number) + Number(step) * stepMs);
        const counter = COUNTER_BY_LETTER.get(letter);
        if (point && counter) point.counts[counter] += Number(value);
        if (point && letter === DURATION) addTo(point.durations, Number(bucket), Number(value));
      }
    }
    return [...points.values()];
  }

  /** The steps that ended in the time range, in time steps of 5 minutes or an hour.
   *  @param stepMs time step of the runs */
  async steps(env: string, functionId: string, from: number, to: number, stepMs: number): Promise<StepSeries[]> {
    const wanted = Math.max(stepMs, 5 * MINUTE_MS);
    const { blockMs } = STEP_RESOLUTIONS.find((resolution) => resolution.stepMs === wanted) as ShownResolution;
    const blocks = startsOf(from, to, blockMs);
    const days = startsOf(from, to, DAY_MS);
    const keys = blocks.map((block) => this.keys.stepSeries(env, wanted, block, functionId));
    const all = await readHashes(this.redis, [
      ...days.map((day) => this.keys.stepNumbers(env, day, functionId)),
      ...keys,
    ]);
    const names = new Map(days.map((day, i) => [day, namesIn(all[i] ?? {})]));
    const series = new Map<string, Map<number, StepPoint>>();
    for (const [i, fields] of all.slice(days.length).entries()) {
      const block = blocks[i] as number;
      for (const [field, value] of Object.entries(fields)) {
        const [, step, number, letter, bucket] = STEP_FIELD.exec(field) ?? [];
        const at = block + Number(step) * wanted;
        if (at + wanted <= from || at >= to) continue;
        const name = names.get(floorTo(block, DAY_MS))?.get(Number(number)) ?? OTHER_STEPS;
        const points = series.get(name) ?? new Map<number, StepPoint>();
        series.set(name, points);
        const point = points.get(at) ?? { at, failed: 0, durations: new Map() };
        points.set(at, point);
        if (letter === STEP_FAILED) point.failed += Number(value);
        else if (letter === DURATION) addTo(point.durations, Number(bucket), Number(value));
      }
    }
    return [...series].map(([name, points]) => ({ name, points: [...points.values()].sort((a, b) => a.at - b.at) }));
  }
}

/** The finest time step that is kept for the whole time range and shows it in a few hundred points. */
export function timeStepOf(from: number, to: number, nowMs: number): number {
  const fits = ({ shownMs }: ShownResolution) => to - from <= shownMs && from >= nowMs - shownMs - MINUTE_MS;
  return (RUN_RESOLUTIONS.find(fits) ?? (RUN_RESOLUTIONS.at(-1) as ShownResolution)).stepMs;
}

function namesIn(numbers: Record<string, string>): Map<number, string> {
  return new Map(Object.entries(numbers).map(([name, number]) => [Number(number), name]));
}
