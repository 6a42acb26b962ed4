/** Measures the cost of a load: CPU time of each process and traffic of Redis. Several rounds add up. */
import { primariesOf } from '../src/store/redis/connection/servers.ts';
import type { Cost, ProcessKind } from './results.ts';
import type { TestBed } from './test-bed.ts';
import { cpuSeconds } from './usage.ts';

interface Reading {
  at: number;
  cpu: Map<number, { kind: ProcessKind; seconds: number }>;
  inBytes: number;
  outBytes: number;
}

export class CostMeter {
  readonly #testBed: TestBed;
  readonly #seconds: Record<ProcessKind, number> = { web: 0, worker: 0, transforms: 0, redis: 0 };
  #inBytes = 0;
  #outBytes = 0;
  #units = 0;
  #elapsedMs = 0;

  constructor(testBed: TestBed) {
    this.#testBed = testBed;
  }

  /** @param units counts the units of work in the result of the load */
  async measure<T>(load: () => Promise<T>, units: (result: T) => number): Promise<T> {
    const before = await this.#read();
    const result = await load();
    const after = await this.#read();
    for (const [pid, { kind, seconds }] of after.cpu)
      this.#seconds[kind] += seconds - (before.cpu.get(pid)?.seconds ?? 0);
    this.#inBytes += after.inBytes - before.inBytes;
    this.#outBytes += after.outBytes - before.outBytes;
    this.#units += units(result);
    this.#elapsedMs += after.at - before.at;
    return result;
  }

  cost(key: Cost['key'], work: string): Cost {
    const { web, worker, transforms, redis } = this.#seconds;
    const per = (seconds: number) => (1_000 * seconds) / this.#units;
    return {
      key,
      work,
      perSecond: (1_000 * this.#units) / this.#elapsedMs,
      cpu: { web: per(web), worker: per(worker), transforms: per(transforms), redis: per(redis) },
      redisInBytes: this.#inBytes / this.#units,
      redisOutBytes: this.#outBytes / this.#units,
    };
  }

  async #read(): Promise<Reading> {
    const stats = await Promise.all(primariesOf(this.#testBed.redis).map((server) => server.info('stats')));
    const sum = (field: RegExp) => stats.reduce((all, text) => all + Number(field.exec(text)?.[1]), 0);
    const parts = this.#testBed.pids();
    return {
      at: performance.now(),
      cpu: new Map(parts.map(({ kind, pid }) => [pid, { kind, seconds: cpuSeconds(pid) }])),
      inBytes: sum(/total_net_input_bytes:(\d+)/),
      outBytes: sum(/total_net_output_bytes:(\d+)/),
    };
  }
}
