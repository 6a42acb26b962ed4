/** Stage of singletons: one active run per key value. A new run is skipped while another is active, or takes over from it and cancels it.
 *  A run holds its key from before its creation until its end. Another run takes over from a holder that ended without a
 *  release, or was never created because its process died. Such a holder may still be created later, so every run checks after its
 *  creation whether it is still the holder. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import { hasEnded, type RunStatus } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { SingletonClaim, SingletonHolders } from '../../store/flow-control/singleton-holders.ts';
import type { RunStatuses } from '../../store/runs/run-statuses.ts';
import type { FlowKeys } from './flow-keys.ts';
import { claimOf, decisionOn, type Keyed, keyedBy } from './keyed-proposals.ts';
import type { FlowStage, RunProposal, StageResult } from './run-proposal.ts';
import type { RunToStart } from './run-to-start.ts';

/** A run is created within milliseconds of its claim, so a missing run this old never will be. */
const GONE_AFTER_MS = 60_000;
/** Maximum number of rounds: in each, another run has become the holder. */
const ROUNDS_MAX = 20;

/** The holder of each proposal's key: its own run, or the run that causes the proposal to be skipped. */
type Holders = Map<Keyed, string>;

export class Singletons
  extends Composed<{
    holders: SingletonHolders;
    runStatuses: Pick<RunStatuses, 'of'>;
    flowKeys: FlowKeys;
    /** Ended runs are not changed.
     *  @param holder the run that took over */
    cancel(env: string, runId: string, holder: string): Promise<unknown>;
  }>
  implements FlowStage
{
  readonly seesCreated = true;

  appliesTo({ singleton }: FlowOptions): boolean {
    return singleton !== undefined;
  }

  async apply(proposals: readonly RunProposal[]): Promise<StageResult> {
    const { keyed, unlimited } = await keyedBy(proposals, this.deps.flowKeys, ({ fn }) => {
      return flowOptionsOf(fn)?.singleton?.key;
    });
    const [created, asking] = partition(keyed, ({ proposal }) => proposal.created !== undefined);
    const decisions: Decision[] = [];
    const admitted = [...unlimited, ...created.map(asCreated)];
    const { first, superseded } = withoutSuperseded(asking);
    const holders = await this.#claim(first);
    for (const claimant of asking) {
      const holder = holders.get(superseded.get(claimant) ?? claimant) as string;
      if (holder === claimant.proposal.id) admitted.push(asHolder(claimant));
      else decisions.push(skipped(claimant, holder));
    }
    return { admitted, decisions };
  }

  /** Call when runs are created. Cancels the runs from which other runs have taken over in the meantime. */
  async confirm(runs: readonly RunToStart[]): Promise<void> {
    const claims = runs.flatMap(({ id, event, keys, retryOf }): SingletonClaim[] => {
      const digest = keys?.singleton;
      return digest === undefined || retryOf !== undefined ? [] : [{ env: event.env, digest, runId: id }];
    });
    if (claims.length === 0) return;
    const results = await this.deps.holders.claim(claims);
    const replaced = claims.flatMap((claim, i) => {
      const result = results[i];
      return result && !result.held ? [{ ...claim, holder: result.holder }] : [];
    });
    await this.#cancel(replaced);
  }

  async #claim(asking: readonly Keyed[]): Promise<Holders> {
    const holders: Holders = new Map();
    const takenOver: { claim: SingletonClaim; replaced: string[] }[] = [];
    let open = asking.map((claimant) => ({ claimant, claim: claimOf(claimant) as SingletonClaim }));
    for (let round = 0; open.length > 0; round++) {
      if (round === ROUNDS_MAX) throw new Error('singletons have changed their holders too often; the job is repeated');
      const results = await this.deps.holders.claim(open.map(({ claim }) => claim));
      const refused: ((typeof open)[number] & { holder: string; heldForMs: number })[] = [];
      for (const [i, { claimant, claim }] of open.entries()) {
        const result = results[i] as (typeof results)[number];
        if (!result.held) {
          refused.push({ claimant, claim, ...result });
          continue;
        }
        holders.set(claimant, claim.runId);
        if (result.replaced.length > 0) takenOver.push({ claim, replaced: result.replaced });
      }
      const statuses = await this.#statusesOf(refused);
      open = [];
      for (const { claimant, claim, holder, heldForMs } of refused) {
        if (isGone(statuses.get(holder), heldForMs) || replaces(claimant.proposal, holder)) {
          open.push({ claimant, claim: { ...claim, from: holder } });
        } else holders.set(claimant, holder);
      }
    }
    await this.#cancelReplaced(takenOver);
    return holders;
  }

  async #statusesOf(refused: readonly { claim: SingletonClaim; holder: string }[]): Promise<Map<string, RunStatus>> {
    const runs = new Map(refused.map(({ claim: { env }, holder }) => [holder, { env, id: holder }]));
    return runs.size === 0 ? new Map() : this.deps.runStatuses.of([...runs.values()]);
  }

  /** If the process dies first, the job is repeated, and the runs are cancelled again. */
  async #cancelReplaced(takenOver: readonly { claim: SingletonClaim; replaced: readonly string[] }[]): Promise<void> {
    if (takenOver.length === 0) return;
    await this.#cancel(
      takenOver.flatMap(({ claim, replaced }) => replaced.map((runId) => ({ ...claim, runId, holder: claim.runId }))),
    );
    await this.deps.holders.forgetReplaced(takenOver.map(({ claim }) => claim));
  }

  async #cancel(runs: readonly { env: string; runId: string; holder: string }[]): Promise<void> {
    await Promise.all(runs.map(({ env, runId, holder }) => this.deps.cancel(env, runId, holder)));
  }
}

/** In the mode `cancel`, only the last of several simultaneous proposals is created. */
function withoutSuperseded(asking: readonly Keyed[]): { first: Keyed[]; superseded: Map<Keyed, Keyed> } {
  const [cancelling, skipping] = partition(asking, ({ proposal }) => modeOf(proposal) === 'cancel');
  const last = new Map(cancelling.map((keyed) => [keyed.digest, keyed]));
  const superseded = new Map(cancelling.map((keyed) => [keyed, last.get(keyed.digest) as Keyed]));
  return { first: [...skipping, ...last.values()], superseded };
}

/** Whether a run takes over from an active one. In an earlier try the proposal may already have been replaced by this holder. */
function replaces(proposal: RunProposal, holder: string): boolean {
  return modeOf(proposal) === 'cancel' && !(proposal.repeated && proposal.id < holder);
}

function isGone(status: RunStatus | undefined, heldForMs: number): boolean {
  return status === undefined ? heldForMs > GONE_AFTER_MS : hasEnded({ status });
}

function modeOf({ fn }: RunProposal) {
  return flowOptionsOf(fn)?.singleton?.mode;
}

function asHolder({ proposal, digest }: Keyed): RunProposal {
  return { ...proposal, keys: { values: {}, ...proposal.keys, singleton: digest } };
}

/** An ended run is not a holder. */
function asCreated(keyed: Keyed): RunProposal {
  const status = keyed.proposal.created as RunStatus;
  return hasEnded({ status }) ? keyed.proposal : asHolder(keyed);
}

function skipped({ proposal }: Keyed, holder: string): Decision {
  return decisionOn(proposal, 'singleton', { runId: holder });
}

function partition<T>(all: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((item) => !isFirst(item))];
}
