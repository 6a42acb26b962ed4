/** A skeleton: gray bars where the content will be. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="animate-pulse space-y-3 p-4">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars have no identity
        <div key={row} className="h-4 rounded bg-sunken" style={{ width: `${90 - ((row * 17) % 45)}%` }} />
      ))}
    </div>
  );
}
