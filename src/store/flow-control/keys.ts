/** Keys of the flow-control room. Each is in the partition that its name gives it (keyspace.ts: `homeOf`). */
import type { KeyDeclaration } from '../redis/key-declaration.ts';
import { BATCH_KEY_DECLARATIONS, batchKeys } from './batch-keys.ts';
import { DEBOUNCE_KEY_DECLARATIONS, debounceKeys } from './debounce-keys.ts';

export const flowControlKeys = (prefix: string) => ({
  ...batchKeys(prefix),
  ...debounceKeys(prefix),
});

export const FLOW_CONTROL_KEY_DECLARATIONS = {
  ...BATCH_KEY_DECLARATIONS,
  ...DEBOUNCE_KEY_DECLARATIONS,
} as const satisfies Record<keyof ReturnType<typeof flowControlKeys>, KeyDeclaration>;
