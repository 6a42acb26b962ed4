/** Detects that jobs arrive quickly at a busy process, or bring many events to any process. Then jobs wait briefly for each other, which
 *  saves more time than it costs. Otherwise each job is worked on immediately. */

/** Below this rate, jobs do not wait. */
const FAST_PER_SECOND = 150;
/** Time over which rate and utilization are measured. */
const WINDOW_MS = 200;
const FAST_COUNT = (FAST_PER_SECOND * WINDOW_MS) / 1_000;
/** At these rates, jobs wait even if the process has time to spare: web and Redis need the CPUs of a machine that they share with it. Few
 *  jobs with as many events are large already. */
const MANY_EVENTS_PER_SECOND = 5_000;
const MANY_JOBS_PER_SECOND = 400;
const MANY_EVENTS = (MANY_EVENTS_PER_SECOND * WINDOW_MS) / 1_000;
const MANY_JOBS = (MANY_JOBS_PER_SECOND * WINDOW_MS) / 1_000;
/** Share of its time in which a busy process runs code. Jobs that wait for each other reduce it, so the process stays
 *  busy above a lower share, which is still more than one sender causes that waits for each of its runs. */
const BUSY = 0.85;
const STILL_BUSY = 0.7;

/** @returns the share of the time since the last call in which this process ran code */
export type Utilization = () => number;

export class JobLoad {
  readonly #utilization: Utilization;
  #from = 0;
  #jobs = 0;
  #events = 0;
  /** Number of jobs in the previous window. */
  #before = 0;
  #isBusy = false;
  #hasManyEvents = false;

  constructor(utilization = eventLoopUtilization()) {
    this.#utilization = utilization;
  }

  /** Counts a started job. */
  add(nowMs: number, events: number): void {
    this.#roll(nowMs);
    this.#jobs++;
    this.#events += events;
  }

  isHigh(nowMs: number): boolean {
    this.#roll(nowMs);
    return (this.#isBusy || this.#hasManyEvents) && Math.max(this.#before, this.#jobs) >= FAST_COUNT;
  }

  #roll(nowMs: number): void {
    const elapsedMs = nowMs - this.#from;
    if (elapsedMs < WINDOW_MS) return;
    const isPrevious = elapsedMs < 2 * WINDOW_MS;
    this.#before = isPrevious ? this.#jobs : 0;
    this.#hasManyEvents = isPrevious && this.#events >= MANY_EVENTS && this.#jobs >= MANY_JOBS;
    this.#jobs = 0;
    this.#events = 0;
    this.#from = nowMs;
    this.#isBusy = this.#utilization() >= (this.#isBusy ? STILL_BUSY : BUSY);
  }
}

function eventLoopUtilization(): Utilization {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
