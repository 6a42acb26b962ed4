/** Checkpoints: one call runs several steps, and stores each step while it continues (docs/protocol.md#checkpoints). */
import type { Call } from './call.ts';
import { type CheckpointOptions, readCheckpoint } from './checkpoint.ts';
import { CheckpointGroups } from './checkpoint-groups.ts';
import { isServerless } from './environment.ts';
import type { TidegateFunction } from './function-types.ts';
import type { Settings } from './settings.ts';
import type { Op } from './steps/op.ts';

/** Maximum characters of buffered steps: a response has room for them and one more step of the largest size. */
const MAX_BUFFERED_LENGTH = 1_048_576;
/** A request that fails sooner costs a call little. */
const SLOW_MS = 1_000;
const PAUSE_MS = 60_000;

/** Sends the body of a checkpoint to the service. Resolves to the status of the response. */
export type SendCheckpoint = (runId: string, body: string, settings: Settings) => Promise<number>;

/** The checkpoints of an app's functions. */
export class Checkpoints {
  readonly #framework: string;
  readonly #groups = new CheckpointGroups();
  /** Until this time no call tries to store a checkpoint: the service rejects checkpoints or does not respond, and each step would wait in vain. */
  #pausedUntilMs = 0;

  constructor(framework: string) {
    this.#framework = framework;
  }

  /** undefined: each step ends this call.
   *  @param onStored called when steps are stored
   *  @param send default: by a request */
  of(
    call: Call,
    requestedStep: string | undefined,
    fn: TidegateFunction,
    settings: Settings,
    {
      onStored,
      send = (...checkpoint) => this.#groups.send(...checkpoint),
    }: { onStored: () => void; send?: SendCheckpoint | undefined },
  ): CallCheckpoints | undefined {
    const given = fn.checkpoint ?? settings.checkpoint ?? !isServerless(this.#framework);
    const isAlone = requestedStep === undefined && !call.disableImmediateExecution;
    // In a retry, `attempt` is that of the first new step, and would be wrong for later steps.
    if (!given || !isAlone || call.attempt > 0 || call.executionId === undefined || Date.now() < this.#pausedUntilMs)
      return undefined;
    return new CallCheckpoints(given === true ? {} : given, async (steps) => {
      const stored = await this.#store(call, steps, (runId, body) => send(runId, body, settings));
      if (stored) onStored();
      return stored;
    });
  }

  async #store(
    { runId, functionUuid, executionId }: Call,
    steps: readonly Op[],
    send: (runId: string, body: string) => Promise<number>,
  ): Promise<boolean> {
    const body = JSON.stringify({ run_id: runId, fn_id: functionUuid, qi_id: executionId, steps });
    const slowAtMs = performance.now() + SLOW_MS;
    try {
      const status = await send(runId, body);
      if ([401, 403, 404].includes(status)) this.#pause();
      return status === 200;
    } catch {
      if (performance.now() >= slowAtMs) this.#pause();
      return false;
    }
  }

  #pause(): void {
    this.#pausedUntilMs = Date.now() + PAUSE_MS;
  }
}

/** The checkpoints of one call. */
export class CallCheckpoints {
  readonly #store: (steps: readonly Op[]) => Promise<boolean>;
  readonly #buffer: number;
  readonly #endsAtMs: number;
  #unstored: Op[] = [];
  #length = 0;

  /** @param store resolves to whether the service has stored the steps and the call may continue */
  constructor(options: CheckpointOptions, store: (steps: readonly Op[]) => Promise<boolean>) {
    const { buffer, maxRuntimeMs } = readCheckpoint(options);
    this.#store = store;
    this.#buffer = buffer;
    this.#endsAtMs = performance.now() + maxRuntimeMs;
  }

  /** Finished steps that belong into the response, before what ends the call. */
  get unstored(): readonly Op[] {
    return this.#unstored;
  }

  /** Stores a finished step, possibly later together with others. Resolves to whether the call continues. */
  async keep(step: Op): Promise<boolean> {
    this.#unstored.push(step);
    this.#length += JSON.stringify(step).length;
    if (performance.now() >= this.#endsAtMs) return false;
    if (this.#unstored.length < this.#buffer && this.#length < MAX_BUFFERED_LENGTH) return true;
    if (!(await this.#store(this.#unstored))) return false;
    this.#unstored = [];
    this.#length = 0;
    return true;
  }
}
