/** Decides when waiting requests are committed: once a turn of the event loop brings no further one. Larger groups cost web, worker and
 *  Redis less per event; a request that arrives alone does not wait. */

/** Maximum time that a request waits for others. */
const WAIT_MAX_MS = 2;

/** @param waiting number of waiting requests
 *  @param enough number of requests that are committed without waiting for more
 *  @param commit called once */
export function whenQuiet(waiting: () => number, enough: number, commit: () => void): void {
  const startedAt = performance.now();
  let before = 0;
  const check = () => {
    const now = waiting();
    if (now > before && now < enough && performance.now() - startedAt < WAIT_MAX_MS) {
      before = now;
      setImmediate(check);
    } else commit();
  };
  // Runs after all requests of this turn have been read.
  setImmediate(check);
}
