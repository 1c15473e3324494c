// How often one link may be used: calls without a key have no rate limit of their own, and must not use up the keys'.
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { World } from '../../world/world.ts'

/** More than anyone clicks; mail scanners open a link a few times. */
const visitsPerWindowMax = 30
const windowMs = 60_000
/** Links tracked on this node; beyond it all start over. */
const linksMax = 10_000

/** Whether the visit is within bounds; it counts either way. */
export function createVisitLimit(world: World): (link: string) => boolean {
  const visits = new BoundedMap<string, { count: number; until: number }>(linksMax)
  return (link) => {
    const now = world.now().getTime()
    const known = visits.get(link)
    if (known !== undefined && known.until > now) {
      known.count += 1
      return known.count <= visitsPerWindowMax
    }
    visits.set(link, { count: 1, until: now + windowMs })
    return true
  }
}
