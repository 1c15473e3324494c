// Which step of one draft is which of another: by the key it is edited under, or by its id at the service.

interface Keyed {
  readonly key: string
  readonly _id?: string
}

/** A step that was made here and saved keeps its key; from the service it comes by its id. */
const isSameStep = (one: Keyed, other: Keyed): boolean =>
  one.key === other.key || (one._id !== undefined && one._id === other._id)

/** With a step that was removed where it was, unless it is there again already. */
export const withStepBack = <Step extends Keyed>(now: readonly Step[], step: Step, place: number): readonly Step[] =>
  now.some((one) => isSameStep(one, step)) ? now : now.toSpliced(place, 0, step)

/** Those of a newer record, under the keys that they are edited under. */
export const underKeysOf = <Step extends Keyed>(now: readonly Step[], fresh: readonly Step[]): Step[] =>
  fresh.map((step) => ({ ...step, key: now.find((one) => isSameStep(one, step))?.key ?? step.key }))
