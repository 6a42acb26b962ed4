import type { FunctionLimits } from '../../src/config.ts';

/** The defaults of the settings. */
export const FUNCTION_LIMITS: FunctionLimits = {
  triggers: 10,
  cancelEvents: 5,
  batchSize: 100,
  batchTimeoutMs: 60_000,
};
