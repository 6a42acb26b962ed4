/** Stores the metadata that an operation carries for its step. */
import { metadataOfOperation, REJECTED_KIND } from '../../../model/runs/metadata.ts';
import type { Op } from '../../../model/runs/operation.ts';
import type { Run } from '../../../model/runs/run.ts';
import type { RunMetadata } from '../../../store/runs/run-metadata.ts';

/** Call before the steps are finished, because a repeated operation of a finished step may be omitted. Metadata never fails an attempt:
 *  rejected metadata is reported in the run's metadata, if there is room. */
export async function storeMetadata(
  ops: readonly Op[],
  run: Pick<Run, 'env' | 'id'>,
  runMetadata: RunMetadata,
): Promise<void> {
  for (const op of ops) if (op.metadata != null) await storeOne(op, run, runMetadata);
}

async function storeOne(op: Op, { env, id }: Pick<Run, 'env' | 'id'>, runMetadata: RunMetadata): Promise<void> {
  const entries = metadataOfOperation(op.metadata, op.id);
  const reject = (reason: string) =>
    runMetadata.update(
      env,
      id,
      { scope: 'step', stepId: op.id },
      { kind: REJECTED_KIND, op: 'set', values: { reason } },
      Date.now(),
    );
  if (typeof entries === 'string') return void (await reject(entries));
  for (const { target, update } of entries) {
    const outcome = await runMetadata.update(env, id, target, update, Date.now());
    if (outcome === 'full') await reject(`the run has too much metadata for the kind "${update.kind}"`);
  }
}
