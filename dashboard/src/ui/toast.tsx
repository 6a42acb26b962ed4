import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

interface Toast {
  id: number;
  text: string;
  failed: boolean;
}

interface Tell {
  done(text: string): void;
  failed(error: Error): void;
}

const Context = createContext<Tell | undefined>(undefined);
const SHOWN_MS = 5_000;

/** A word at the edge of the page when something has been done, or has failed. */
export function useTell(): Tell {
  const tell = useContext(Context);
  if (!tell) throw new Error('useTell is used outside of Toasts');
  return tell;
}

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const next = useRef(0);
  const show = useCallback((text: string, failed: boolean) => {
    const id = next.current++;
    setToasts((all) => [...all, { id, text, failed }]);
    setTimeout(() => setToasts((all) => all.filter((toast) => toast.id !== id)), SHOWN_MS);
  }, []);
  const tell = useMemo(
    () => ({ done: (text: string) => show(text, false), failed: (error: Error) => show(error.message, true) }),
    [show],
  );
  return (
    <Context.Provider value={tell}>
      {children}
      <div aria-live="polite" className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2">
        {toasts.map(({ id, text, failed }) => (
          <div
            key={id}
            className="flex items-start gap-2 rounded-lg border border-line-strong bg-surface p-3 shadow-lg"
          >
            <Icon name={failed ? 'warning' : 'check'} className={`mt-0.5 ${failed ? 'text-bad' : 'text-good'}`} />
            <p className="min-w-0 break-words">{text}</p>
          </div>
        ))}
      </div>
    </Context.Provider>
  );
}
