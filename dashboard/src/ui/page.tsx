import { type ReactNode, useEffect } from 'react';

interface PageProps {
  title: ReactNode;
  /** Title of the browser tab, where `title` is not plain text. */
  tabTitle?: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** Little space above the content: for lists. */
  dense?: boolean;
  children: ReactNode;
}

/** Layout of every page: heading, actions, content. */
export function Page({ title, tabTitle, description, actions, dense = false, children }: PageProps) {
  const tab = tabTitle ?? (typeof title === 'string' ? title : undefined);
  useEffect(() => {
    document.title = tab ? `${tab} · Tidegate` : 'Tidegate';
  }, [tab]);
  return (
    <div className={`mx-auto w-full max-w-[86rem] px-4 pb-24 sm:px-8 ${dense ? 'pt-3' : 'pt-6'}`}>
      <header className={`${dense ? 'mb-2' : 'mb-6'} flex flex-wrap items-start gap-x-6 gap-y-3`}>
        <div className="min-w-0 flex-1 basis-56">
          <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
          {description && <p className="mt-1 text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
  className = '',
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`min-w-0 rounded-lg border border-line bg-surface ${className}`}>
      {title && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 className="font-medium">{title}</h2>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Terms and their values. */
export function DescriptionList({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-1 gap-x-8 gap-y-3 p-4 sm:grid-cols-2 lg:grid-cols-4">{children}</dl>;
}

export function DescriptionItem({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{term}</dt>
      <dd className="mt-0.5 break-words">{children}</dd>
    </div>
  );
}
