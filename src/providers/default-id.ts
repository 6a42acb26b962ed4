/** Default deduplication ID of an event whose transform sets none: the provider's ID, so that retries count once. IDs consisting of
 *  digits are prefixed with the webhook's ID, because different providers may use the same numbers. */
import { createHash, hash } from 'node:crypto';
import { EVENT_ID_MAX } from '../model/events/event.ts';
import type { Location, Preset, VerificationScheme } from './preset.ts';
import type { ProviderRequest } from './provider-request.ts';
import { valuesOf } from './verification/fields.ts';
import { compileSigned, type SignedContent } from './verification/signed-content.ts';

/** Leaves room for the number of an event in a list, and for the webhook's ID. */
const ID_MAX = EVENT_ID_MAX - 10 - 27;

/** undefined if neither an ID nor the signed content identifies the request. */
export function defaultId(preset: Preset, request: ProviderRequest, webhookId: string): string | undefined {
  const own = ownId(preset, request) ?? signedId(preset.verification, request, webhookId);
  return own !== undefined && /^\d*$/.test(own) ? `${webhookId}:${own}` : own;
}

export function ownId(preset: Pick<Preset, 'eventId' | 'deliveryId'>, request: ProviderRequest): string | undefined {
  for (const source of [preset.eventId, preset.deliveryId]) {
    const id = source && idAt(source, request);
    if (id) return id.length <= ID_MAX ? id : digest(id);
  }
  return undefined;
}

/** @param source a location, or a template with locations in braces, all of which the request must have */
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

/** Signed content with a time identifies a request. The signature's text is not used: anybody with a captured request could write it
 *  differently, and make the request count again. */
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

/** Any URL of a webhook represents all its URLs. */
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
