/** What a fault is. Each repairs what it broke before it resolves. */
import type { AppProcess } from '../apps/app-process.ts';
import type { ExecutionsListener } from '../apps/executions.ts';
import type { Sender } from '../load/sender.ts';
import type { PostgresServer } from '../postgres.ts';
import type { Random } from '../random.ts';
import type { Service } from '../service.ts';
import type { ServiceProcess } from '../service-process.ts';

/** What every fault may use; some need more (redis-faults.ts, cluster-faults.ts). */
export interface ChaosContext {
  service: Service;
  sender: Sender;
  /** Without the hostile one. */
  apps: readonly AppProcess[];
  executions: ExecutionsListener;
  random: Random;
  /** undefined: the service has no archive. */
  postgres: PostgresServer | undefined;
  /** How long Redis or a process is stopped. */
  stopMs: number;
}

export interface Fault<Context extends ChaosContext = ChaosContext> {
  name: string;
  weight: number;
  /** Whether calls in flight may be repeated. An orderly shutdown is no excuse. */
  excuses: boolean;
  /** How many processes of the service it kills or terminates. */
  ends: number;
  /** @returns the reason if this run cannot inject the fault */
  unavailable?(context: Context): string | undefined;
  run(context: Context): Promise<void>;
}

export const anyOf = (processes: readonly ServiceProcess[], random: Random) => random.pick(processes);
