/** Runs all health checks concurrently, each for at most two seconds. Simultaneous requests share a round. */
import { ServiceError } from '../../../errors.ts';
import { inTime } from '../../../model/values/in-time.ts';
import { toServiceError } from '../../../store/redis/connection/connection.ts';
import { CHECK_STATUSES, type CheckStatus, type Finding, type HealthCheck, problem } from './check.ts';

const TIMEOUT_MS = 2_000;

export interface CheckResult extends Finding {
  id: string;
}

export interface Health {
  status: CheckStatus;
  checks: CheckResult[];
}

export class HealthChecks {
  readonly #checks: readonly HealthCheck[];
  #running: Promise<Health> | undefined;

  constructor(checks: readonly HealthCheck[]) {
    this.#checks = checks;
  }

  run(nowMs: number): Promise<Health> {
    this.#running ??= this.#runAll(nowMs).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #runAll(nowMs: number): Promise<Health> {
    const found = await Promise.all(
      this.#checks.map(async (check) => (await runOne(check, nowMs)).map((finding) => ({ id: check.id, ...finding }))),
    );
    const checks = found.flat();
    const worst = checks.reduce((most, { status }) => Math.max(most, CHECK_STATUSES.indexOf(status)), 0);
    return { status: CHECK_STATUSES[worst] as CheckStatus, checks };
  }
}

async function runOne({ id, run }: HealthCheck, nowMs: number): Promise<Finding[]> {
  const late = new Error(`no response within ${TIMEOUT_MS / 1_000} s`);
  try {
    return await inTime(run(nowMs), TIMEOUT_MS, () => late);
  } catch (error) {
    if (error === late) return [problem(`not checked: ${late.message}`, 'See the check "redis".')];
    const known = toServiceError(error);
    // Other errors may name hosts and keys, which may only appear in the log.
    const why = known instanceof ServiceError ? known.message : 'an error that the log of web has';
    return [problem(`not checked: ${why}`, id === 'redis' ? 'Check Redis.' : 'See the check "redis".')];
  }
}
