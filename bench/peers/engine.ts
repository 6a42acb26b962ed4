/** An engine that runs the functions, and how it was set. */
import type { FunctionName } from './functions.ts';
import type { Durability, Part } from './results.ts';
import type { Session } from './session.ts';

export interface Engine {
  /** As `--only` selects it and tables show it. */
  name: string;
  durability: Durability;
  /** Starts it with an app that tells the ends of runs to the port. */
  open(session: Session, senderPort: number): Promise<OpenEngine>;
}

export interface OpenEngine {
  /** Versions of everything installed for it. */
  version: string;
  /** The request that starts a run. */
  startOf(name: FunctionName): { url: string; body: string };
  /** The processes whose CPU time counts, each with its descendants. */
  processes: readonly { part: Part; pid: number }[];
}
