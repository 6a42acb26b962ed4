/** What one run of the benchmark found: the shape of bench/results/<date>.json. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { Row } from './row.ts';
import type { Point } from './statistics.ts';

export interface Results extends Found {
  /** ISO 8601. */
  at: string;
  /** What has to be known of these figures, shown with them. */
  note?: string;
  machine: Machine;
  /** Of the options. */
  rounds: number;
  seconds: number;
}

export interface Found {
  rows: Row[];
  costs: Cost[];
  series: Series[];
  bytes?: RedisBytes;
}

export interface Machine {
  cpu: string;
  cores: number;
  memoryBytes: number;
  node: string;
  /** Its version. */
  redis?: string;
}

/** What each part spent while a load ran. */
export interface Cost {
  /** By which the page about sizes finds it. */
  key: 'single' | 'batch' | 'webhook' | 'ingest' | 'run' | 'step';
  work: string;
  /** Units done in a second while this was measured. */
  perSecond: number;
  /** CPU seconds per 1,000 units. */
  cpu: Record<PartKind, number>;
  /** Per unit, what Redis received and sent over the network. */
  redisInBytes: number;
  redisOutBytes: number;
}

export const PART_KINDS = ['web', 'worker', 'transforms', 'redis'] as const;
export type PartKind = (typeof PART_KINDS)[number];

/** What one event, and one run beside its event, take: in Redis's memory, and in its append-only file before that is rewritten. */
export interface RedisBytes {
  eventPayload: number;
  event: { memory: number; file: number };
  run: { memory: number; file: number };
}

/** Figures over time, for a picture. */
export interface Series {
  key: 'backlog' | 'runs' | 'soak';
  unit: string;
  lines: { name: string; points: Point[] }[];
}

export function joined(all: readonly Found[]): Found {
  const bytes = all.find((found) => found.bytes)?.bytes;
  return {
    rows: all.flatMap(({ rows }) => rows),
    costs: all.flatMap(({ costs }) => costs),
    series: all.flatMap(({ series }) => series),
    ...(bytes && { bytes }),
  };
}

export function thisMachine(redis: string): Machine {
  const cpu = cpus()[0]?.model ?? 'unknown';
  return { cpu, cores: availableParallelism(), memoryBytes: totalmem(), node: process.version, redis };
}

export function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results;
}

export function writeResults(file: string, results: Results): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${JSON.stringify(results, (_key, value) => (typeof value === 'number' ? short(value) : value), 2)}\n`,
  );
  // Laid out as all files of the repository are, or the lint would refuse it.
  spawnSync('biome', ['format', '--write', file], { stdio: 'ignore' });
}

/** Six digits are more than any of these measures is good for. */
function short(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(6));
}
