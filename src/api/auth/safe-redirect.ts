/** Where to go after signing in: only ever to a page of this service. */
const HERE = 'http://here.invalid';

/** The path and query of what was asked for; "/" when it is anything but a path. */
export function safeRedirect(asked: unknown): string {
  if (typeof asked !== 'string' || !asked.startsWith('/') || !URL.canParse(asked, HERE)) return '/';
  const { origin, pathname, search } = new URL(asked, HERE);
  // "//other.example" and what browsers take for it ("/\other.example") have another origin, or a path that begins so.
  return origin === HERE && !pathname.startsWith('//') ? pathname + search : '/';
}
