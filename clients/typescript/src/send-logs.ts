/** Sends the lines that a function has logged in a call, or up to a checkpoint of the call, at the same time as the response. If the platform
 *  allows it, neither waits for the other. */
import { randomUUID } from 'node:crypto';
import type { AppRequest } from './app-request.ts';
import { currentEnv } from './environment.ts';
import type { LogCollector } from './log-collector.ts';
import { askService } from './service.ts';
import type { Settings } from './settings.ts';
import { waitUntilOfPlatform } from './wait-until.ts';

const TRIES = 2;
const TRY_TIMEOUT_MS = 2_000;
/** How long a response waits for the logs on platforms that stop the process with the response. */
const ANSWER_WAITS_MS = 1_000;

/** Resolves when the response may be sent: at once, except where the platform stops the process with the response. Never rejects. */
export async function sendLogs(
  { runId, attempt }: { runId: string; attempt: number },
  collector: LogCollector,
  settings: Settings,
  request: Pick<AppRequest, 'waitUntil'>,
): Promise<void> {
  const batch = collector.takeBatch();
  if (!batch) return;
  const body = JSON.stringify({ batch: randomUUID(), attempt, ...batch });
  const sent = post(`/v0/runs/${encodeURIComponent(runId)}/logs`, body, settings);
  if (goesOn(sent, waitUntilOfPlatform)) return;
  // On Lambda that of a framework does nothing.
  goesOn(sent, () => request.waitUntil);
  if (currentEnv().AWS_LAMBDA_FUNCTION_NAME) await Promise.race([sent, pause(ANSWER_WAITS_MS)]);
}

/** @returns whether a platform lets the work end. A platform that fails at it fails no run */
function goesOn(work: Promise<unknown>, find: () => AppRequest['waitUntil']): boolean {
  try {
    const waitUntil = find();
    waitUntil?.(work);
    return waitUntil !== undefined;
  } catch {
    return false;
  }
}

/** A repeated batch is stored once. */
async function post(path: string, body: string, settings: Settings): Promise<void> {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  for (let tries = 1; tries <= TRIES; tries++) {
    try {
      const { status } = await askService(path, init, settings, TRY_TIMEOUT_MS);
      if (status < 500) return;
    } catch {
      // The lines are in the app's own log, too, so a failure is ignored.
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref?.();
  });
}
