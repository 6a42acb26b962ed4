/** Keys of the flow-control room. Each is in the partition that its name gives it (keyspace.ts: `homeOf`). */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const flowControlKeys = (prefix: string) => ({
  rateLimit: (env: string, digest: string) => `${prefix}:rate-limit:${env}:${digest}`,
  idempotency: (env: string, digest: string) => `${prefix}:idempotency:${env}:${digest}`,
  singleton: (env: string, digest: string) => `${prefix}:singleton:${env}:${digest}`,
});

export const FLOW_CONTROL_KEY_DECLARATIONS = {
  rateLimit: {
    pattern: 'rate-limit:<env>:<digest>',
    type: 'zset',
    owner: 'flow-control/rate-limit-logs.ts',
    ttl: 'period of the limit, 60 s at least',
    size: '1 entry per run admitted in this time',
    description:
      'IDs of the runs that a rate limit has admitted, by time (µs). `<digest>` stands for function, key and value (`model/flow-control/key-digest.ts`).',
  },
  idempotency: {
    pattern: 'idempotency:<env>:<digest>',
    type: 'string',
    owner: 'flow-control/idempotency-claims.ts',
    ttl: '24 h',
    size: '26 bytes per value of an idempotency key',
    description: 'ID of the first run with the value.',
  },
  singleton: {
    pattern: 'singleton:<env>:<digest>',
    type: 'string',
    owner: 'flow-control/singleton-holders.ts',
    ttl: 'none; deleted when the run ends',
    size: '40 bytes per active run of a singleton',
    description:
      'ID of the active run, since when (ms), and IDs of the runs before it until they are certainly cancelled.',
  },
} as const satisfies Record<keyof ReturnType<typeof flowControlKeys>, KeyDeclaration>;
