/** New rows appear at once if the reader is at the top of the page; further down they would move the rows being read. */
const TOP_PX = 80;

export const isAtTop = () => window.scrollY < TOP_PX;
