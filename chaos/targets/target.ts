/** The Redis that faults hit: a single one, or a Redis Cluster. */
import type { Redis } from 'ioredis';
import type { InjectedFaults } from '../attack.ts';
import type { ChaosContext } from '../faults/fault.ts';
import type { Ledger } from '../load/ledger.ts';
import type { Options } from '../options.ts';
import type { Count } from '../results.ts';
import type { Timeline } from '../timeline.ts';

export interface Target {
  /** Settings of the service that name it. */
  settings: Record<string, string>;
  /** How many the service has. */
  partitions: number;
  inject(context: ChaosContext, ledger: Ledger, timeline: Timeline, options: Options): Promise<InjectedFaults>;
  /** Connections to all that have keys. */
  primaries(): Promise<Redis[]>;
  /** Further results, and what they are about. */
  counts(): Count[];
  load(): Record<string, number>;
  close(): Promise<void>;
}
