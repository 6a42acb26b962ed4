import { Link } from '@tanstack/react-router';

/** Tabs kept in the URL's query parameter `param`. Each change is an entry of the history: Back returns to the former tab. */
export function Tabs({
  label,
  tabs,
  current,
  param = 'tab',
}: {
  label: string;
  tabs: readonly (readonly [id: string, label: string])[];
  current: string;
  param?: string;
}) {
  return (
    <nav aria-label={label} className="mb-3 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(([id, text]) => (
        <Link
          key={id}
          to="."
          search={(before: Record<string, unknown>) => ({ ...before, [param]: id })}
          resetScroll={false}
          aria-current={current === id ? 'page' : undefined}
          className={`-mb-px border-b-2 px-3 py-2 text-sm font-medium whitespace-nowrap ${current === id ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text'}`}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}
