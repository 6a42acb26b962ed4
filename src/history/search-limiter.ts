/** Limits concurrent searches per process and principal: each takes time of the main thread, and a connection to Postgres. */
import { ServiceError } from '../errors.ts';
import { ConcurrencyLimits } from '../model/capacity/concurrency-limits.ts';

const PER_ENVIRONMENT_MAX = 3;
const TOTAL_MAX = 6;
/** Maximum per principal: in one environment, and in total. */
const PER_PRINCIPAL_IN_ENVIRONMENT_MAX = 2;
const PER_PRINCIPAL_MAX = 3;
const RETRY_AFTER_SECONDS = 1;

export class SearchLimiter {
  readonly #running = new ConcurrencyLimits();

  /** @param principal who searches; undefined: the service itself
   *  @throws ServiceError searches_full */
  async run<T>(env: string, principal: string | undefined, search: () => Promise<T>): Promise<T> {
    const begun = this.#running.begin([
      ...(principal === undefined ? [] : limitsOf(principal, env)),
      { name: `environment ${env}`, max: PER_ENVIRONMENT_MAX, who: 'this environment has' },
      { name: 'all', max: TOTAL_MAX, who: 'the process has' },
    ]);
    if ('reached' in begun) {
      throw new ServiceError('searches_full', {
        detail: `${begun.reached.who} as many as it may; retry after ${RETRY_AFTER_SECONDS} s`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    try {
      return await search();
    } finally {
      begun.end();
    }
  }
}

function limitsOf(principal: string, env: string) {
  const who = 'this user or key has';
  return [
    { name: `principal ${principal} in ${env}`, max: PER_PRINCIPAL_IN_ENVIRONMENT_MAX, who },
    { name: `principal ${principal}`, max: PER_PRINCIPAL_MAX, who },
  ];
}
