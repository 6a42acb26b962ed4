/** Decides when the requests that wait for a commit are committed: once a turn of the event loop brings no further one. Larger groups cost
 *  web, worker and Redis less per event; a request that comes alone waits for nothing. */

/** Most time that a request waits for others. */
const WAIT_MAX_MS = 2;

/** @param waiting number of requests that wait
 *  @param enough requests that are committed without waiting for more
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
  // After all requests that this turn has read.
  setImmediate(check);
}
