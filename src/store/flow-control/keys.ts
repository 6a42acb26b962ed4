/** Keys of the flow-control room. Each is in the partition that its name gives it (keyspace.ts: `homeOf`). */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const flowControlKeys = (_prefix: string) => ({});

export const FLOW_CONTROL_KEY_DECLARATIONS = {} as const satisfies Record<
  keyof ReturnType<typeof flowControlKeys>,
  KeyDeclaration
>;
