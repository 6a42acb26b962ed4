/** Jobs that a worker has begun and will not end in time are handed back to the queue: another worker takes them up at once, and no attempt
 *  is used up. BullMQ can leave them only by falling silent, until their lock runs out. */
import { type Job, WaitingError } from 'bullmq';

type Handler<Data> = (job: Job<Data>) => Promise<void>;

export class JobRelease {
  readonly #atWork = new Set<() => void>();

  /** @returns the handler, whose job is over when it is handed back. What the handler still does then must change nothing. */
  over<Data>(handler: Handler<Data>): Handler<Data> {
    return (job) =>
      new Promise<void>((resolve, reject) => {
        const give = () => handBack(job).catch(reject);
        this.#atWork.add(give);
        handler(job)
          .then(resolve, reject)
          .finally(() => this.#atWork.delete(give));
      });
  }

  /** Hands back all that is at work. @returns how many */
  all(): number {
    const count = this.#atWork.size;
    for (const give of this.#atWork) void give();
    this.#atWork.clear();
    return count;
  }
}

/** Where Redis does not take this either, the job's lock runs out, and another worker takes it up then.
 *  @throws WaitingError always, which tells BullMQ that the job is no longer here */
async function handBack<Data>(job: Job<Data>): Promise<never> {
  await job.moveToWait(job.token).catch(() => undefined);
  throw new WaitingError();
}
