/** Presents settings in the API, docs/settings.md and error messages, without secrets. */
import { SECRET_SETTINGS, SETTING_GROUPS, SETTINGS } from './settings.ts';

/** A setting as the API shows it. */
export interface Setting {
  readonly name: string;
  /** Its heading in docs/settings.md. */
  readonly group: string;
  /** The value in effect, set or default; null for none and for secrets. */
  readonly value: string | null;
  readonly default: string | null;
  readonly meaning: string;
  readonly isSet: boolean;
  readonly secret: boolean;
}

const GROUP_OF = new Map(
  Object.entries(SETTING_GROUPS).flatMap(([group, settings]) => Object.keys(settings).map((name) => [name, group])),
);

/** All settings with the values in effect. */
export function settingsOf(given: Record<string, string | undefined>): Setting[] {
  return Object.entries(SETTINGS).map(([name, takes]) => {
    const secret = SECRET_SETTINGS.has(name);
    const byDefault = textOf(takes.safeParse(undefined).data);
    const value = secret ? null : withoutPassword(given[name] ?? byDefault);
    return {
      name,
      group: GROUP_OF.get(name) ?? '',
      value,
      default: byDefault,
      meaning: takes.description ?? '',
      isSet: given[name] !== undefined,
      secret,
    };
  });
}

/** The value as the environment spells it; null for none. */
function textOf(value: unknown): string | null {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? null : String(value);
}

/** Hides the passwords in one or several URLs. A user name may be an email address; a password may contain commas: a URL ends where the next
 *  begins. */
function withoutPassword<Value extends string | null | undefined>(value: Value): Value {
  if (typeof value !== 'string') return value;
  const urls = value
    .split(/,(?=\s{0,9}\w{1,20}:\/\/)/)
    .map((url) => url.replace(/^(\s*\w+:\/\/[^:/]*:).*(?=@)/s, '$1***').replace(/([?&]password=)[^&]*/i, '$1***'));
  return urls.join() as Value;
}

/** The given value for an error message; for a secret only its length. */
export function shownGiven(name: string, value: string | undefined): string {
  return SECRET_SETTINGS.has(name) ? `${value?.length} characters` : JSON.stringify(withoutPassword(value));
}
