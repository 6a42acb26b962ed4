/** The gist of an event: its name and the first values of its payload, on one line. */
export function EventGist({ name, gist }: { name: string; gist: string | undefined }) {
  return (
    <span className="flex min-w-0 items-baseline gap-2" title={gist ? `${name}\n${gist}` : name}>
      <span className="max-w-full shrink-0 truncate">{name}</span>
      {gist && <span className="min-w-0 truncate font-mono text-xs text-muted">{gist}</span>}
    </span>
  );
}
