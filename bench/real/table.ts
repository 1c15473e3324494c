// Measures of the realistic bench, by id: what each is called, which way is better, and the bar it is held to.
import type { Measured } from '../statistics.ts'
import { median } from '../statistics.ts'

export interface Measure {
  readonly title: string
  readonly unit: string
  readonly better: 'higher' | 'lower'
  /** Of the ratio Posthorn / hand-made. */
  readonly bar?: number
  readonly goal?: number
}

/** One side's numbers, a value per round. */
export type Rounds = readonly number[]

export interface Compared {
  readonly handmade: number | undefined
  readonly posthorn: number | undefined
  /** The median of the rounds' own ratios: a round in which the machine was slow was slow for both. */
  readonly ratio: number | undefined
}

export function compared(handmade: Rounds | undefined, posthorn: Rounds | undefined): Compared {
  const ratios = (posthorn ?? []).flatMap((value, round) => {
    const other = handmade?.[round]
    return other === undefined || other === 0 ? [] : [value / other]
  })
  const middle = (values: Rounds | undefined) =>
    values === undefined || values.length === 0 ? undefined : median(values)
  return { handmade: middle(handmade), posthorn: middle(posthorn), ratio: middle(ratios) }
}

export const isMet = ({ better }: Measure, ratio: number, bar: number): boolean =>
  better === 'higher' ? ratio >= bar : ratio <= bar

export function rowOf(measure: Measure, { handmade, posthorn, ratio }: Compared): Measured {
  const value = (number: number | undefined) => (number === undefined ? '–' : shown(number)).padStart(8)
  const columns = `${value(handmade)} ${value(posthorn)} ${measure.unit.padEnd(5)} ratio ${value(ratio)}`
  const { bar } = measure
  if (bar === undefined || ratio === undefined) return { what: measure.title, value: columns }
  const sign = measure.better === 'higher' ? '≥' : '≤'
  return { what: measure.title, value: columns, bar: `${sign} ${bar}`, met: isMet(measure, ratio, bar) }
}

export function shown(number: number): string {
  if (Math.abs(number) >= 1000) return Math.round(number).toLocaleString('en-US')
  return Math.abs(number) >= 100 ? number.toFixed(0) : number.toFixed(Math.abs(number) >= 10 ? 1 : 2)
}
