/** Checkpoints that an app sends over its connection. The connection was authenticated for an environment, so checkpoints need no key. */
import { ServiceError } from '../../errors.ts';
import type { MessageOf } from '../../functions/connect/codec.ts';
import type { Checkpoint, CheckpointAck } from '../../functions/connect/messages.ts';
import type { CallCheckpoints } from '../../jobs/runs/calls/checkpoints.ts';
import type { Logger } from '../../log.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { MAX_RESPONSE_BYTES } from '../../model/runs/memo.ts';
import { describe } from '../../model/values/json.ts';
import { resultOf, storeCheckpoint } from '../apps/checkpoint.ts';
import { parseJsonBody } from '../apps/json-body.ts';

export interface CheckpointFramesDeps {
  callCheckpoints: CallCheckpoints;
  log: Logger;
}

/** Stores it as the HTTP request would. Never rejects. */
export async function answerCheckpoint(
  env: string,
  given: MessageOf<typeof Checkpoint>,
  { callCheckpoints, log }: CheckpointFramesDeps,
): Promise<MessageOf<typeof CheckpointAck>> {
  return { checkpointId: given.checkpointId, ...(await resultOf(() => store(env, given, callCheckpoints), log)) };
}

async function store(
  env: string,
  { runId, body }: MessageOf<typeof Checkpoint>,
  callCheckpoints: CallCheckpoints,
): Promise<void> {
  if (!ID_PATTERN.test(runId)) throw new ServiceError('not_found', { detail: `got the run ID ${describe(runId)}` });
  if (body.length > MAX_RESPONSE_BYTES) {
    throw new ServiceError('body_too_large', { detail: `the limit is ${MAX_RESPONSE_BYTES} bytes` });
  }
  const requireEnvironment = (of: string) => {
    if (of === env) return;
    throw new ServiceError('credentials_invalid', { detail: `the connection is of the environment ${describe(env)}` });
  };
  await storeCheckpoint(runId, parseJsonBody(Buffer.from(body)), requireEnvironment, callCheckpoints);
}
