/** Line icons of 16 pixels, drawn for this dashboard; always beside words or with a label of their own. */
const PATHS = {
  gauge: 'M2.5 11.5a5.5 5.5 0 1 1 11 0M8 11.5l2.5-4',
  bolt: 'M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z',
  play: 'M5 3v10l8-5z',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  box: 'M2.5 5 8 2l5.5 3v6L8 14l-5.5-3zM2.5 5 8 8l5.5-3M8 8v6',
  stack: 'M2 5.5 8 2.5l6 3-6 3zM2 8.5l6 3 6-3M2 11.2l6 3 6-3',
  hook: 'M10 2v7.5a3 3 0 1 1-6 0V8M4 8 2.2 9.8M4 8l1.8 1.8M8.5 2h3',
  inbox: 'M2 9h3.5l1 2h3l1-2H14M2 9l2-6h8l2 6v4H2z',
  key: 'M5 14a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.2 8.8l6.3-6.3M11.8 4.2l2 2M9.3 6.7l1.5 1.5',
  branch:
    'M4.5 5.5v5M4.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zm0 8.4a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zm7-8.4a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zm0 0c0 3-3.5 3.2-7 5',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.8c1.6.5 2.5 1.8 2.5 3.7',
  scroll: 'M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2.5',
  sliders: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 3v3M5.5 10v3',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  warning: 'M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  again: 'M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  plus: 'M8 3v10M3 8h10',
  dots: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  external: 'M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v4.5h-9v-9H7',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  screen: 'M2 3h12v8H2zM6 14h4M8 11v3',
  menu: 'M2 4h12M2 8h12M2 12h12',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9',
  send: 'M14 2 2 7l5 2 2 5z',
  edit: 'M3 13l.7-3L11 2.7 13.3 5 6 12.3z',
  filter: 'M2 3h12l-4.5 5.5v4L6.5 14V8.5z',
  dot: 'M8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={`inline-block size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
