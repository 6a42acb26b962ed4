/** Why a value was refused. No retry helps. */
import { NonRetriableError } from '../errors.ts';
import type { Place } from './types.ts';

const SHOWN = 60;
const OR_NOT_STRICT = 'or leave strict out until the runs and events from before have ended';

export function unknownKey(id: string): NonRetriableError {
  return new NonRetriableError(
    `A value is encrypted with the key ${shown(id)}, which is not among the keys of encryption(): put that key into fallbackKeys`,
  );
}

export function unknownVersion(version: number): NonRetriableError {
  return new NonRetriableError(
    `A value is encrypted in version ${version}, and this client reads versions 1 and 2: upgrade the client`,
  );
}

/** @param place undefined: of version 1 */
export function doesNotOpen(key: string, place: Place | undefined): NonRetriableError {
  const [where, why] = place
    ? [
        ` as ${nameOf(place)}`,
        'it was moved here from another place, or has changed since. Re-run the run from its start',
      ]
    : ['', 'it has changed since'];
  return new NonRetriableError(
    `A value that the key ${key} encrypted cannot be decrypted${where}: ${why}. If another text had this key, put that text into fallbackKeys`,
  );
}

export function withoutPlace(): NonRetriableError {
  return new NonRetriableError(
    'encryption() in version 2 binds values to their places: encode and decode need the place',
  );
}

export function notEncrypted(place: Place): NonRetriableError {
  return new NonRetriableError(
    `${sentence(place)} is not encrypted, which strict encryption() refuses: encrypt it where it is written, by encryption() with version: 2, ${OR_NOT_STRICT}`,
  );
}

export function isVersion1(place: Place | undefined): NonRetriableError {
  return new NonRetriableError(
    `${place ? sentence(place) : 'A value'} is encrypted in version 1, which is bound to no place and which strict encryption() refuses: set version: 2 where it is written, ${OR_NOT_STRICT}`,
  );
}

function sentence(place: Place): string {
  const name = nameOf(place);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function nameOf([kind, name = '', functionId, run]: Place): string {
  if (kind === 'step') return `the result of step ${shown(name)} of ${shown(functionId)} in run ${shown(run)}`;
  if (kind === 'output') return `the output of ${shown(name)} for ${shown(functionId)}`;
  return `the event "${shown(name)}"${functionId === undefined ? '' : ` to ${shown(functionId)} from ${shown(run)}`}`;
}

/** The text can be anything, of any length. */
function shown(text = ''): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
