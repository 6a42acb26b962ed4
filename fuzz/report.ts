/** Formats the results of a run. */
import { quantile } from '../bench/statistics.ts';
import type { Finding, Report } from './fuzz.ts';

/** More growth than this is a leak: V8's heap grows while memory is free. */
const GROWTH_BYTES = 200 * 1_048_576;
/** Below this, a percentile depends more on the machine than on the service. */
const P99_FLOOR_MS = 50;

export function findingText({ origin, problem, case: one, command }: Finding): string {
  return `${origin} (${one.area}): ${problem}\n  ${command}`;
}

/** Failures that no single case causes: rejected events, latency, memory growth, events from forged requests. */
export function failuresOf({ neighbor, residentBytes: { warm, end }, webhooks }: Report): string[] {
  const rejected = neighbor.failures.slice(0, 5).map((one) => `An event of another sender was rejected: ${one}`);
  const failures = [...rejected, ...webhooks];
  const [before, during] = [p99(neighbor.beforeMs), p99(neighbor.duringMs)];
  if (during > 2 * Math.max(before, P99_FLOOR_MS)) {
    failures.push(
      `The p99 of another sender was ${during.toFixed(0)} ms during the attack, ${before.toFixed(0)} ms before`,
    );
  }
  for (const [role, bytes] of Object.entries(end)) {
    const grown = bytes - (warm[role] ?? bytes);
    if (grown > GROWTH_BYTES) failures.push(`The memory of ${role} grew by ${megabytes(grown)} to ${megabytes(bytes)}`);
  }
  return failures;
}

export function summary({ seed, cases, seconds, statuses, neighbor, residentBytes: { warm, end } }: Report): string {
  const counted = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  const memory = Object.entries(end).map(
    ([role, bytes]) => `${role} ${megabytes(warm[role] ?? 0)} → ${megabytes(bytes)}`,
  );
  return [
    `${cases} cases of seed ${seed} in ${seconds.toFixed(0)} s; responses ${counted.join(', ')}`,
    ...(neighbor.duringMs.length > 0 ? [neighborLine(neighbor)] : []),
    `memory: ${memory.join(', ')}`,
  ].join('\n');
}

function neighborLine({ beforeMs, duringMs }: Report['neighbor']): string {
  const counted = `${beforeMs.length} and ${duringMs.length} events`;
  return `p99 of another sender: ${p99(beforeMs).toFixed(1)} ms before, ${p99(duringMs).toFixed(1)} ms during the attack (${counted})`;
}

function p99(latencies: number[]): number {
  return latencies.length > 0 ? quantile(latencies, 0.99) : 0;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`;
}
