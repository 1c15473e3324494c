// How the nodes that want to call an account share the calls that it takes at once: pure, so that time is an argument.

/** A node that wants calls, or still has some under way. */
export interface ShareHolder {
  readonly node: string
  /** What it may have in flight, or has if that is more: no other node can have those. */
  readonly slots: number
  /** By the database's clock; a node that died does not renew it. */
  readonly untilMs: number
}

export interface ShareRequest {
  readonly node: string
  /** What the account accepts from all nodes together. */
  readonly max: number
  /** Calls that this node has in flight: they cannot be undone. */
  readonly inUse: number
  readonly wants: boolean
}

/** A share that is not renewed for so long is free. */
export const shareMs = 5_000
/** If there are more nodes than calls, or they cannot be divided evenly, the larger shares rotate this often. */
export const turnMs = 2_000

/**
 * How many calls the node may have in flight from now on, and who holds what. If it has more in flight, none may start
 * until they have ended. The total held is at most `max`.
 */
export function shareOut(
  before: readonly ShareHolder[],
  { node, max, inUse, wants }: ShareRequest,
  nowMs: number,
): { readonly allowed: number; readonly holders: readonly ShareHolder[] } {
  const others = before.filter((one) => one.node !== node && one.untilMs > nowMs)
  const nodes = [...others.map((one) => one.node), node].sort()
  const free = max - others.reduce((sum, one) => sum + one.slots, 0)
  const allowed = wants ? Math.max(0, Math.min(turnOf(nodes, node, max, nowMs), free)) : 0
  const slots = Math.max(inUse, allowed)
  const isGone = !wants && slots === 0
  return { allowed, holders: isGone ? others : [...others, { node, slots, untilMs: nowMs + shareMs }] }
}

/** Call number 1 is the first node's, number 2 the second's, and so on; with every turn each moves on by one. */
function turnOf(nodes: readonly string[], node: string, max: number, nowMs: number): number {
  const place = nodes.indexOf(node)
  const turn = Math.floor(nowMs / turnMs) % nodes.length
  const first = (place - turn + nodes.length) % nodes.length
  return max <= first ? 0 : Math.ceil((max - first) / nodes.length)
}
