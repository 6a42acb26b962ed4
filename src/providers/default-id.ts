/** The deduplication ID of an event whose transform sets none: the provider's own, so that its retries count once. One of digits alone begins with the
 *  ID of the webhook: numbers of different providers may be equal. */
import { createHash, hash } from 'node:crypto';
import { EVENT_ID_MAX } from '../model/events/event.ts';
import type { Location, Preset, VerificationScheme } from './preset.ts';
import type { ProviderRequest } from './provider-request.ts';
import { valuesOf } from './verification/fields.ts';
import { compileSigned, type SignedContent } from './verification/signed-content.ts';

/** Room for the number of an event of several, and for the ID of the webhook. */
const ID_MAX = EVENT_ID_MAX - 10 - 27;

/** undefined: neither an ID nor what is signed identifies the request. */
export function defaultId(preset: Preset, request: ProviderRequest, webhookId: string): string | undefined {
  const own = ownId(preset, request) ?? signedId(preset.verification, request, webhookId);
  return own !== undefined && /^\d*$/.test(own) ? `${webhookId}:${own}` : own;
}

function ownId(preset: Preset, request: ProviderRequest): string | undefined {
  for (const source of [preset.eventId, preset.deliveryId]) {
    const id = source && idAt(source, request);
    if (id) return id.length <= ID_MAX ? id : digest(id);
  }
  return undefined;
}

/** @param source a location, or text with locations in braces, all of which the request must have */
function idAt(source: string, request: ProviderRequest): string | undefined {
  if (!source.includes('{')) return request.valueAt(source as Location);
  let isComplete = true;
  const id = source.replace(/\{([^{}]*)\}/g, (_, location: Location) => {
    const value = request.valueAt(location);
    if (!value) isComplete = false;
    return value ?? '';
  });
  return isComplete ? id : undefined;
}

/** What is signed tells one request from another, if it has a time. Not the text of the signature: whoever has captured a request can write that in other
 *  ways, and so make the request count again. */
function signedId(scheme: VerificationScheme | null, request: ProviderRequest, webhookId: string): string | undefined {
  if (scheme?.scheme === 'braintree') {
    const payload = request.form?.get('bt_payload');
    return payload ? digest(payload.trim()) : undefined;
  }
  if (!scheme || !('timestamp' in scheme) || !scheme.timestamp) return undefined;
  const [timestamp] = valuesOf(request, scheme.timestamp);
  const parts = contentOf(scheme)(request, timestamp, ANY_URL);
  if (!parts) return undefined;
  const made = createHash('sha256').update(`${webhookId}\n`);
  for (const part of parts) made.update(part);
  return made.digest('hex');
}

/** The webhook may have several, all of which mean the same. */
const ANY_URL = 'https://webhook';

const contents = new WeakMap<VerificationScheme, SignedContent>();

function contentOf(scheme: Extract<VerificationScheme, { signed: string }>): SignedContent {
  const known = contents.get(scheme) ?? compileSigned(scheme.signed);
  contents.set(scheme, known);
  return known;
}

function digest(text: string): string {
  return hash('sha256', text, 'hex');
}
