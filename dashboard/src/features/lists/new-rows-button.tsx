import { Icon } from '../../ui/icon.tsx';

interface NewRowsButtonProps {
  count: number;
  /** There may be more than these. */
  more?: boolean;
  /** "event" */
  what: string;
  onShow(): void;
}

/** "134 new runs – show". Sticky, so that it is visible below the top of the list. */
export function NewRowsButton({ count, more = false, what, onShow }: NewRowsButtonProps) {
  return (
    <div role="status" className="pointer-events-none sticky top-12 z-20 flex h-0 justify-center">
      {(count > 0 || more) && (
        <button
          type="button"
          onClick={onShow}
          className="pointer-events-auto inline-flex h-8 items-center gap-1.5 rounded-full bg-accent px-4 text-sm font-medium whitespace-nowrap text-accent-text shadow-lg hover:brightness-110"
        >
          <Icon name="arrow-up" />
          {textOf(count, more, what)} – show
        </button>
      )}
    </div>
  );
}

function textOf(count: number, more: boolean, what: string): string {
  if (count === 0) return `New ${what}s`;
  return `${count.toLocaleString()}${more ? '+' : ''} new ${count === 1 && !more ? what : `${what}s`}`;
}
