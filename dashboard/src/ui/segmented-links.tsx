import { Link } from '@tanstack/react-router';

interface SegmentedLinksProps {
  label: string;
  /** `title`: the full text, on hover. */
  options: readonly { id: string; text: string; title?: string }[];
  current: string;
  /** The URL's query parameter that holds the choice. */
  param: string;
}

/** A few options side by side, kept in the URL. Each change is an entry of the history, as with tabs. */
export function SegmentedLinks({ label, options, current, param }: SegmentedLinksProps) {
  return (
    <nav aria-label={label} className="flex rounded-md border border-line bg-surface p-0.5">
      {options.map(({ id, text, title }) => (
        <Link
          key={id}
          to="."
          search={(before: Record<string, unknown>) => ({ ...before, [param]: id })}
          resetScroll={false}
          title={title}
          aria-current={id === current ? 'true' : undefined}
          className={`rounded px-2.5 py-0.5 text-sm font-medium ${id === current ? 'bg-accent-soft text-text' : 'text-muted hover:text-text'}`}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}
