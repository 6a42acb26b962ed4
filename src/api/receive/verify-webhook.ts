/** Verifies that the webhook's provider sent a request. */
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../errors.ts';
import { machineTime } from '../../model/values/clock.ts';
import type { LogSummary } from '../../model/webhooks/request-log.ts';
import { ProviderRequest } from '../../providers/provider-request.ts';
import {
  type Failure,
  type FetchDocument,
  failed,
  type VerificationResult,
} from '../../providers/verification/verification.ts';
import type { Store } from '../../store/store.ts';
import { keysOf, type StoredSecret } from '../../store/webhooks/webhook.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { WebhookRequest } from './webhook-request.ts';

export type LoggedVerification = NonNullable<LogSummary['verification']>;

/** The part of a request that the log contains. */
export type LoggedReceipt = Pick<LogSummary, 'receivedAt' | 'verification'>;

export interface VerifyWebhookDeps extends Pick<Store, 'transmissions'> {
  /** Scheme and host at which providers reach the service; undefined: the host of each request. */
  publicUrl: string | undefined;
  fetchDocument: FetchDocument;
}

/** @param json the fields of a large body that were picked */
export function providerRequestOf(
  webhook: WebhookInUse,
  { method, headers, search, body }: WebhookRequest,
  { publicUrl }: Pick<VerifyWebhookDeps, 'publicUrl'>,
  json?: unknown,
): ProviderRequest {
  const urls = () => {
    const paths = keysOf(webhook).map((key) => `/e/${key}`);
    return basesOf(publicUrl, headers).flatMap((base) => paths.map((path) => base + path));
  };
  return new ProviderRequest({ method, urls, headers, search, body, json });
}

function basesOf(publicUrl: string | undefined, { host = '' }: IncomingHttpHeaders): string[] {
  if (publicUrl !== undefined) return [publicUrl];
  return /^[\w.:[\]-]{1,255}$/.test(host) ? [`https://${host}`, `http://${host}`] : [];
}

/** @param logged set for a request from the log: its age is that on receipt, and an earlier verification stays valid, even after a
 *  rotation
 *  @returns undefined if the webhook verifies nothing
 *  @throws ServiceError verification_failed, with the reason; verification_unavailable */
export async function verifyWebhook(
  webhook: WebhookInUse,
  request: ProviderRequest,
  logged: LoggedReceipt | undefined,
  { fetchDocument, transmissions }: VerifyWebhookDeps,
): Promise<LoggedVerification | undefined> {
  const { verifier, provider, liveSecrets } = webhook;
  if (provider === undefined) return undefined;
  if (logged?.verification?.result === 'verified') return logged.verification;
  if (!verifier) return { result: 'skipped' };
  const made = verifier(request, { nowMs: machineTime(), receivedAtMs: logged?.receivedAt, fetchDocument });
  const checked = stillValid(made instanceof Promise ? await made : made, liveSecrets, Date.now());
  if (checked.result === 'failed') throw errorOf(checked);
  const { secretIndex, transmission } = checked;
  if (transmission) {
    // A request refused as repeated stays refused when re-run, even after the claim has expired.
    const wasRepeated = logged?.verification?.reason === 'transmission_repeated';
    const { id, forMs } = transmission;
    if (wasRepeated || !(await transmissions.claim(webhook.id, id, request.body, forMs))) {
      throw errorOf(failed('transmission_repeated', 'another body came with this transmission ID before'));
    }
  }
  return { result: 'verified', secretId: liveSecrets[secretIndex]?.id };
}

/** An error that makes the provider retry if the cause is outside of the request. */
export function errorOf({ reason, message }: Failure): ServiceError {
  const code = reason.endsWith('_unavailable') ? 'verification_unavailable' : 'verification_failed';
  return new ServiceError(code, {
    detail: message,
    facts: { reason },
    ...(code === 'verification_unavailable' && { retryAfterSeconds: 60 }),
  });
}

/** The webhook in memory may be older than the end of a rotated secret. */
function stillValid(checked: VerificationResult, secrets: readonly StoredSecret[], nowMs: number): VerificationResult {
  if (checked.result !== 'verified') return checked;
  const { until } = secrets[checked.secretIndex] ?? {};
  if (until === undefined || until > nowMs) return checked;
  return failed('signature_mismatch', 'the request fits a former secret, which has ended');
}
