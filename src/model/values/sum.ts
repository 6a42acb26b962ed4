export function sum(numbers: Iterable<number>): number;
export function sum<Item>(items: Iterable<Item>, of: (item: Item) => number): number;
export function sum<Item>(items: Iterable<Item>, of = (item: Item) => item as number): number {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
}
