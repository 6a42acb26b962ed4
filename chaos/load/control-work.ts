/** What operators do while faults are injected: a function is paused, with its queued runs held, and resumed; events are replayed; runs that have paused are
 *  resumed. */
import { setTimeout } from 'node:timers/promises';
import { functionIdOf, HELD, PAUSING, REPLAYED, TICKING } from '../apps/limits.ts';
import type { Outcome } from '../history/entry.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Service } from '../service.ts';
import { everyMs } from './periodic.ts';

const PAUSE_EVERY_MS = 4_000;
const PAUSED_MS = 3_000;
const REPLAY_EVERY_MS = 7_000;
/** Runs per second: a replay takes some seconds, so that faults hit it. */
const REPLAY_RATE = 10;
const RESUME_EVERY_MS = 1_000;
const RETRY_MS = 300;
/** Also the response to a pause takes time. */
const ANSWER_MS = 8_000;

export class ControlWork {
  replays = 0;
  pauses = 0;
  /** Times that a run was resumed. */
  resumed = 0;
  readonly #service: Service;
  readonly #recorder: Recorder;

  constructor(service: Service, recorder: Recorder) {
    this.#service = service;
    this.#recorder = recorder;
  }

  async keepWorking(isOver: () => boolean): Promise<void> {
    await Promise.all([
      everyMs(PAUSE_EVERY_MS, isOver, () => this.#pauseForAWhile()),
      everyMs(REPLAY_EVERY_MS, isOver, () => this.#replay()),
    ]);
  }

  /** Also after the last fault: runs that have paused end only if somebody resumes them. */
  async keepResuming(isOver: () => boolean): Promise<void> {
    const functionId = functionIdOf(PAUSING.id);
    await everyMs(RESUME_EVERY_MS, isOver, async () => {
      const path = `/v1/runs?function_id=${functionId}&state=paused&limit=100`;
      for (const { run_id: runId } of await this.#service.list<{ run_id: string }>(path)) {
        const resume = () => this.#service.post(`/v1/runs/${runId}/resume`, {});
        if ((await this.#recorder.control({ what: 'resume', functionId, runId }, resume)) === 'ok') this.resumed++;
      }
    });
  }

  /** Schedules never end by themselves. */
  async stopSchedules(): Promise<void> {
    await this.#untilOk('pause', functionIdOf(TICKING.id), { queued_runs: 'run' });
  }

  async #pauseForAWhile(): Promise<void> {
    const functionId = functionIdOf(HELD.id);
    if ((await this.#control('pause', functionId, { queued_runs: 'hold' })) === 'ok') this.pauses++;
    await setTimeout(PAUSED_MS);
    await this.#untilOk('resume', functionId, {});
  }

  async #untilOk(what: 'pause' | 'resume', functionId: string, body: object): Promise<void> {
    while ((await this.#control(what, functionId, body)) !== 'ok') await setTimeout(RETRY_MS);
  }

  #control(what: 'pause' | 'resume', functionId: string, body: object): Promise<Outcome> {
    const path = `/v1/functions/${functionId}/${what}`;
    return this.#recorder.control({ what, functionId }, () => this.#service.post(path, body, ANSWER_MS));
  }

  /** Replays what is older than a moment, once for each time. */
  async #replay(): Promise<void> {
    const functionId = functionIdOf(REPLAYED.id);
    const body = {
      ...{ filter: { name: REPLAYED.name }, functions: [functionId], statuses: ['Completed'], rate: REPLAY_RATE },
      received_after: new Date(Date.now() - 2 * REPLAY_EVERY_MS).toISOString(),
      received_before: new Date().toISOString(),
    };
    const result = await this.#recorder.control({ what: 'replay', functionId }, () =>
      this.#service.post('/v1/replays', body),
    );
    if (result === 'ok') this.replays++;
  }
}
