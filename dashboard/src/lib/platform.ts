/** The user's keyboard. */
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** A shortcut, with `$mod` replaced by its key. */
export function modShortcut(key: string): string {
  return IS_MAC ? `⌘${key}` : `Ctrl ${key}`;
}
