/** Creates the runs of batches and debounces. */
import { PRODUCTION } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { FlowStage, RunProposal } from '../flow-control/run-proposal.ts';
import type { RunStarter } from '../runs/run-starter.ts';

export class GroupRunStarter extends Composed<{
  /** Resolves once a replica has the writes of `work`. */
  replicated<T>(work: () => Promise<T>): Promise<T>;
  environments: Pick<Environments, 'read'>;
  flowControl: FlowControl;
  starter: Pick<RunStarter, 'start'>;
}> {
  /** A deleted environment has no events, and its groups must be removed. */
  async exists(env: string): Promise<boolean> {
    if (env === PRODUCTION) return true;
    const environment = await this.deps.environments.read(env);
    return environment !== undefined && environment.deletingAt === undefined;
  }

  /** Idempotent. Afterwards the batch or debounce can be removed: a failover keeps the runs. */
  async start(proposals: readonly RunProposal[], stage: FlowStage): Promise<void> {
    const { flowControl, starter, replicated } = this.deps;
    if (proposals.length === 0) return;
    await replicated(async () => starter.start(await flowControl.resume(proposals, stage), Date.now()));
  }
}
