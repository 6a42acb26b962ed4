/** The faults, by name. */
import { APP_FAULTS } from './app-faults.ts';
import { CLUSTER_FAULTS, type ClusterContext } from './cluster-faults.ts';
import type { Fault } from './fault.ts';
import { POSTGRES_FAULTS } from './postgres-faults.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { REDIS_FAULTS, type RedisContext } from './redis-faults.ts';
import { TRANSFORM_FAULTS } from './transform-faults.ts';

export const FAULTS: readonly Fault<RedisContext>[] = [
  ...PROCESS_FAULTS,
  ...TRANSFORM_FAULTS,
  ...APP_FAULTS,
  ...REDIS_FAULTS,
  ...POSTGRES_FAULTS,
];
export const FAULTS_ON_CLUSTER: readonly Fault<ClusterContext>[] = [
  ...PROCESS_FAULTS,
  ...TRANSFORM_FAULTS,
  ...APP_FAULTS,
  ...CLUSTER_FAULTS,
  ...POSTGRES_FAULTS,
];
