/** The deduplication ID of an event whose transform sets none: the provider's own, so that its retries count once. One of digits alone begins with the
 *  ID of the webhook: numbers of different providers may be equal. */
import { hash } from 'node:crypto';
import { EVENT_ID_MAX } from '../model/events/event.ts';
import type { Field, Location, Preset, VerificationScheme } from './preset.ts';
import type { ProviderRequest } from './provider-request.ts';
import { valuesOf } from './verification/fields.ts';

/** Room for the number of an event of several, and for the ID of the webhook. */
const ID_MAX = EVENT_ID_MAX - 10 - 27;

/** undefined: neither an ID nor a signature identifies the request. */
export function defaultId(preset: Preset, request: ProviderRequest, webhookId: string): string | undefined {
  const own = ownId(preset, request);
  return own !== undefined && /^\d*$/.test(own) ? `${webhookId}:${own}` : own;
}

function ownId(preset: Preset, request: ProviderRequest): string | undefined {
  for (const source of [preset.eventId, preset.deliveryId]) {
    const id = source && idAt(source, request);
    if (id) return id.length <= ID_MAX ? id : digest(id);
  }
  const signature = preset.verification && signatureOf(preset.verification);
  const [value] = signature ? valuesOf(request, signature) : [];
  // Hexadecimal digits of another case are the same signature.
  return value === undefined ? undefined : digest(value.toLowerCase());
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

/** Only a signature over the time tells one request from another with the same content. */
function signatureOf(scheme: VerificationScheme): Field | undefined {
  return 'timestamp' in scheme && scheme.timestamp ? scheme.signature : undefined;
}

function digest(text: string): string {
  return hash('sha256', text, 'hex');
}
