// Measures of the realistic bench: what each is called, which way is better, the bar it is held to; and their ratios.
import type { Measured } from '../statistics.ts'
import { median } from '../statistics.ts'

export interface Measure {
  readonly title: string
  readonly unit: string
  readonly better: 'higher' | 'lower'
  /** Of the ratio Posthorn / hand-made. */
  readonly bar?: number
}

export interface Compared {
  readonly handmade: number | undefined
  readonly posthorn: number | undefined
  /** The median of the rounds' own ratios: a round in which the machine was slow was slow for both. */
  readonly ratio: number | undefined
}

export interface MeasuredRow extends Compared {
  readonly id: string
  readonly measure: Measure
}

type Values = readonly number[]

/** From a value per round of each side. */
export function compared(handmade: Values | undefined, posthorn: Values | undefined): Compared {
  const ratios = (posthorn ?? []).flatMap((value, round) => {
    const other = handmade?.[round]
    return other === undefined || other === 0 ? [] : [value / other]
  })
  return { handmade: middle(handmade), posthorn: middle(posthorn), ratio: middle(ratios) }
}

const middle = (values: Values | undefined): number | undefined =>
  values === undefined || values.length === 0 ? undefined : median(values)

export const isMet = ({ better, bar }: Measure, ratio: number): boolean =>
  bar === undefined || (better === 'higher' ? ratio >= bar : ratio <= bar)

export const barText = ({ better, bar }: Measure): string =>
  bar === undefined ? '' : `${better === 'higher' ? '≥' : '≤'} ${bar}`

/** As the terminal shows it. */
export function printed({ measure, handmade, posthorn, ratio }: MeasuredRow): Measured {
  const value = (number: number | undefined): string => shown(number).padStart(8)
  const columns = `${value(handmade)} ${value(posthorn)} ${measure.unit.padEnd(5)} ratio ${value(ratio)}`
  if (measure.bar === undefined || ratio === undefined) return { what: measure.title, value: columns }
  return { what: measure.title, value: columns, bar: barText(measure), met: isMet(measure, ratio) }
}

export function shown(number: number | undefined): string {
  if (number === undefined || !Number.isFinite(number)) return '–'
  if (Math.abs(number) >= 1000) return Math.round(number).toLocaleString('en-US')
  return Math.abs(number) >= 100 ? number.toFixed(0) : number.toFixed(Math.abs(number) >= 10 ? 1 : 2)
}
