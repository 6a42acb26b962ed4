/** A webhook compiled for requests: secrets are decrypted and keys created when webhooks are read, not per request. */
import { type AccessListMatcher, matcherOf } from '../../model/auth/allow-lists.ts';
import { SealError, type Sealer } from '../../model/auth/seal.ts';
import { compileFilter, compileOrder, type Expression, tryCompile } from '../../model/expressions/expression.ts';
import { presetOf } from '../../providers/catalog.ts';
import { withoutTokens } from '../../providers/handshake-response.ts';
import { handshakeMethods } from '../../providers/handshakes.ts';
import type { Method, Preset } from '../../providers/preset.ts';
import { failed, type Verifier } from '../../providers/verification/verification.ts';
import { createVerifier } from '../../providers/verification/verifier.ts';
import type { StoredSecret, Webhook } from './webhook.ts';

export interface WebhookInUse extends Webhook {
  allowList: AccessListMatcher;
  /** The preset, with the webhook's scheme if it leaves the choice to the user. */
  preset: Preset | undefined;
  /** undefined if requests are not verified. */
  verifier: Verifier | undefined;
  /** Decrypted, in the order of `secrets`. */
  openSecrets: readonly string[];
  /** The secrets as stored, in the same order. */
  liveSecrets: readonly StoredSecret[];
  /** `refused`: an earlier version of the service accepted the filter, and this version does not. The webhook's
   *  requests are rejected, and stay in the log. */
  filterExpression: Pick<Expression, 'evaluate'> | 'refused' | undefined;
  /** An expression that this version of the service does not accept has no value. */
  orderExpressions: Record<'key' | 'by', Pick<Expression, 'valueOf'> | undefined> | undefined;
  /** Methods of requests that make events. */
  eventMethods: readonly Method[];
  /** `eventMethods`, and methods of handshakes. */
  acceptedMethods: readonly Method[];
}

const POST: readonly Method[] = ['POST'];

export function sealLocation(webhookId: string, secretId: string): string {
  return `webhook:${webhookId}:${secretId}`;
}

export function inUse(webhook: Webhook, sealer: Sealer): WebhookInUse {
  const preset = presetFor(webhook);
  const now = Date.now();
  const live = (webhook.secrets ?? []).filter(({ until }) => until === undefined || until > now);
  const methods = methodsOf(webhook, preset);
  const common = {
    ...webhook,
    allowList: matcherOf(webhook),
    preset,
    liveSecrets: live,
    filterExpression: webhook.filter === undefined ? undefined : compiledFilter(webhook.filter),
    orderExpressions: webhook.order && {
      key: tryCompile(webhook.order.key, compileOrder),
      by: webhook.order.by === undefined ? undefined : tryCompile(webhook.order.by, compileOrder),
    },
    eventMethods: methods.events,
    acceptedMethods: methods.accepted,
  };
  try {
    const openSecrets = live.map(({ id, sealed }) => sealer.open(sealed, sealLocation(webhook.id, id)));
    return { ...common, openSecrets, verifier: verifierOf(webhook, preset, openSecrets) };
  } catch (error) {
    const { message } = error as Error;
    const what = error instanceof SealError ? `its secret cannot be opened (${message})` : message;
    return { ...common, openSecrets: [], verifier: () => failed('secret_unreadable', what) };
  }
}

function presetFor({ provider, verification }: Webhook): Preset | undefined {
  const preset = provider === undefined ? undefined : presetOf(provider);
  return preset && verification ? { ...preset, verification } : preset;
}

/** Unless the webhook sets methods, the methods of handshakes make no events. */
function methodsOf({ methods }: Webhook, preset: Preset | undefined) {
  const handshakes = preset ? handshakeMethods(preset) : [];
  const events = methods ?? preset?.methods.filter((method) => !handshakes.includes(method)) ?? POST;
  return { events, accepted: [...new Set([...events, ...handshakes])] };
}

export function compiledFilter(filter: string): Expression | 'refused' {
  return tryCompile(filter, compileFilter) ?? 'refused';
}

/** @throws Error for a secret that does not fit the scheme */
function verifierOf(webhook: Webhook, preset: Preset | undefined, secrets: readonly string[]): Verifier | undefined {
  const { provider, verify = true, settings = {} } = webhook;
  const verification = preset?.verification;
  if (!verify || provider === undefined) return undefined;
  // The scheme is from the catalog of another version.
  if (!verification)
    return () => failed('secret_unreadable', `this version of the service does not know the provider "${provider}"`);
  return withoutTokens(preset, createVerifier(verification, secrets, settings));
}
