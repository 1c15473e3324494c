// Finds the one item that makes a group fail: the group is halved until the item is alone.

export interface Bisection<Item, Result> {
  together(items: readonly Item[]): Promise<Result>
  /** True for an error that is not caused by an item: it is rethrown, and nothing is halved. */
  isOfAll(error: unknown): boolean
  /** The result for the item that fails alone. */
  culprit(item: Item, error: unknown): Promise<Result>
}

/** The results of the groups that went through, in the order of their items. */
export async function bisect<Item, Result>(
  items: readonly Item[],
  bisection: Bisection<Item, Result>,
): Promise<Result[]> {
  const [only, second] = items
  if (only === undefined) return []
  try {
    return [await bisection.together(items)]
  } catch (error) {
    if (bisection.isOfAll(error)) throw error
    if (second === undefined) return [await bisection.culprit(only, error)]
    const middle = items.length >> 1
    return [...(await bisect(items.slice(0, middle), bisection)), ...(await bisect(items.slice(middle), bisection))]
  }
}
