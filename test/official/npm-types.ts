/** What the apps of the official TypeScript SDK are made of, in either version. */
import type { Loose } from './outside.ts';

/** Creates a function. */
export type CreateFunction = (
  options: { id: string } & Record<string, unknown>,
  triggers: object[],
  handler: (args: Loose) => Promise<unknown>,
) => Loose;

export interface NpmApp {
  /** The package's exports. */
  sdk: Loose;
  client: Loose;
  /** Its id. */
  app: string;
  create: CreateFunction;
}
