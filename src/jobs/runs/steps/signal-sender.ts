/** Sends signals: each ends the one step that waits for it (`WaitForSignal`, docs/protocol.md#waitforsignal). */
import { Composed } from '../../../model/values/composed.ts';
import type { Signals } from '../../../store/runs/signals.ts';
import type { Acceptor } from '../../acceptance/acceptor.ts';
import type { RunTransitions } from '../state-transitions.ts';

export class SignalSender extends Composed<{
  signals: Signals;
  transitions: RunTransitions;
  afterwards: Acceptor['afterwards'];
}> {
  /** @returns ID of the resumed run; undefined if no step waits for the signal */
  async send(env: string, signal: string, data: unknown): Promise<string | undefined> {
    const { signals, transitions, afterwards } = this.deps;
    const step = await signals.waiting(env, signal);
    if (!step) return undefined;
    const { runId, stepId } = step;
    const isFirst = await transitions.finishStep(env, runId, stepId, { data: { signal, data: data ?? null } });
    // The wait is removed last: if this process dies before, or a failover loses the memo, the sender retries, and the first memo wins.
    await afterwards(() => signals.remove(env, signal, step));
    return isFirst ? runId : undefined;
  }
}
