/** The results of a benchmark run: the format of bench/results/<date>.json. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { Row } from './row.ts';
import type { Point } from './statistics.ts';

export interface Results extends Measured {
  /** ISO 8601. */
  at: string;
  /** A caveat, shown with the figures. */
  note?: string;
  machine: Machine;
  /** The options `--rounds` and `--seconds`. */
  rounds: number;
  seconds: number;
}

export interface Measured {
  rows: Row[];
  costs: Cost[];
  series: Series[];
  bytes?: RedisBytes;
  archive?: ArchiveBytes;
  compression?: Compression[];
}

export interface Machine {
  cpu: string;
  cores: number;
  memoryBytes: number;
  node: string;
  /** Version. */
  redis?: string;
}

/** The CPU time and traffic that a load used. */
export interface Cost {
  /** docs/scaling.md selects costs by key. */
  key:
    | 'single'
    | 'single-at-work'
    | 'batch'
    | 'webhook'
    | 'ingest'
    | 'run'
    | 'step'
    | 'wake-up'
    | 'move'
    | 'move-with-run';
  work: string;
  /** Units per second during the measurement. */
  perSecond: number;
  /** CPU seconds per 1,000 units. */
  cpu: Record<ProcessKind, number>;
  /** Bytes that Redis received and sent per unit. */
  redisInBytes: number;
  redisOutBytes: number;
}

export const PROCESS_KINDS = ['web', 'worker', 'transforms', 'redis'] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

/** Bytes of one event, and of one run without its event, in Redis's memory and in its append-only file before a rewrite. */
export interface RedisBytes {
  eventPayload: number;
  event: { memory: number; file: number };
  run: { memory: number; file: number };
}

/** Bytes of one archived event or run. */
export interface ArchiveBytes {
  /** Bytes of the payload of the event as it is stored. */
  eventPayload: number;
  /** On the disk of Postgres. */
  event: DiskBytes;
  run: DiskBytes;
  /** What the event of a run takes more: the decision about it. */
  decision: number;
  /** What Redis keeps: of an event, of an ID that its sender gave, and of a run. */
  left: { event: number; claim: number; run: number };
}

export interface DiskBytes {
  table: number;
  indexes: { columns: string; bytes: number }[];
}

/** Payloads of one size. */
export interface Compression {
  payload: number;
  /** Per payload: bytes, and CPU time to write and to read in microseconds. */
  methods: { name: string; bytes: number; writeUs: number; readUs: number }[];
}

/** Values over time, for a chart. */
export interface Series {
  key: 'backlog' | 'runs' | 'soak';
  unit: string;
  lines: { name: string; points: Point[] }[];
}

export function merge(all: readonly Measured[]): Measured {
  const bytes = all.find((found) => found.bytes)?.bytes;
  const archive = all.find((found) => found.archive)?.archive;
  const compression = all.find((found) => found.compression)?.compression;
  return {
    rows: all.flatMap(({ rows }) => rows),
    costs: all.flatMap(({ costs }) => costs),
    series: all.flatMap(({ series }) => series),
    ...(bytes && { bytes }),
    ...(archive && { archive }),
    ...(compression && { compression }),
  };
}

export function thisMachine(redis: string): Machine {
  const cpu = cpus()[0]?.model ?? 'unknown';
  return { cpu, cores: availableParallelism(), memoryBytes: totalmem(), node: process.version, redis };
}

export function readResults<T = Results>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

export function writeResults(file: string, results: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${JSON.stringify(results, (_key, value) => (typeof value === 'number' ? roundNumber(value) : value), 2)}\n`,
  );
  // The lint checks the format of this file too.
  spawnSync('biome', ['format', '--write', file], { stdio: 'ignore' });
}

/** Six significant digits are more than the precision of any measurement. */
function roundNumber(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(6));
}
