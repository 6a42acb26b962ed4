/** IDs in a call for the official SDKs, which return them with a checkpoint. */
import { hash } from 'node:crypto';
import { z } from 'zod';

/** Execution of a call: `qi_id` on the wire, opaque to apps. */
export interface QueueItem {
  /** Environment of the run, because not every SDK names it in a checkpoint. */
  env: string;
  /** Number of finished steps that the call is for; undefined for the call of a planned step. */
  finishedSteps: number | undefined;
  /** Number of executions of the call's job at that time. */
  executions: number;
}

const MAX_LENGTH = 512;
const itemSchema = z.tuple([z.string(), z.int().min(0).nullable(), z.int().min(0)]);

export function encodeQueueItem({ env, finishedSteps, executions }: QueueItem): string {
  return Buffer.from(JSON.stringify([env, finishedSteps ?? null, executions])).toString('base64url');
}

/** undefined if the service did not create it. */
export function decodeQueueItem(text: string): QueueItem | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    const [env, finishedSteps, executions] = itemSchema.parse(
      JSON.parse(Buffer.from(text, 'base64url').toString('utf8')),
    );
    return { env, finishedSteps: finishedSteps ?? undefined, executions };
  } catch {
    return undefined;
  }
}

/** The official Go SDK reads a function's ID as a UUID. */
export function functionUuid(env: string, functionId: string): string {
  return uuidOf(`function\n${env}\n${functionId}`);
}

export function appUuid(env: string, app: string): string {
  return uuidOf(`app\n${env}\n${app}`);
}

/** A UUID of version 8, which is free for any content. */
function uuidOf(text: string): string {
  const bytes = hash('sha256', text, 'buffer').subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
