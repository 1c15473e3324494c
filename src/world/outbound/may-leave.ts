// The last question before a message leaves: asked when the connection is in hand, before the first byte that could send it.
import type { World } from '../world.ts'

/** Whether it may leave now. `false`, or an error, means that nothing does. */
export type MayLeave = () => boolean | Promise<boolean>

/**
 * The world as one call to a provider sees it: every request asks first, but those that are marked with `sendsNothing`. One
 * whose request is repeated (with a new token, after the first was refused) is asked again.
 */
export function leavingWorld(world: World, mayLeave: MayLeave): World {
  // Made for every call: a prototype costs 1 µs, a copy 6.
  const leaving: { -readonly [Member in keyof World]: World[Member] } = Object.create(world)
  leaving.origin = originOf(world)
  leaving.mayLeave = mayLeave
  leaving.fetch = (request, options) => world.fetch(request, asking(options, mayLeave))
  return leaving
}

function asking(options: Parameters<World['fetch']>[1], mayLeave: MayLeave): Parameters<World['fetch']>[1] {
  if (options === undefined) return { mayLeave }
  return options.sendsNothing === true ? options : { ...options, mayLeave }
}

/** The world that all calls share: what is kept for them is kept by this one. */
export const originOf = (world: World): World => world.origin ?? world

/** Goes on in the same turn of the loop where the answer is at hand; an error is a no. */
export function whenAnswered(mayLeave: MayLeave | undefined, goOn: (isAllowed: boolean) => void): void {
  const answer = mayLeave === undefined || answerOf(mayLeave)
  if (typeof answer === 'boolean') goOn(answer)
  else
    answer.then(
      (isAllowed) => goOn(isAllowed === true),
      () => goOn(false),
    )
}

function answerOf(mayLeave: MayLeave): boolean | Promise<boolean> {
  try {
    return mayLeave()
  } catch {
    return false
  }
}
