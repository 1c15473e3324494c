// Times: relative in lists, exact with the zone on hover.
import { useEffect, useState } from 'react'

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
})
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })

export const isTime = (at: string | number | Date): boolean => !Number.isNaN(new Date(at).getTime())

/** What is no time, such as a text of a payload that only looks like one, is shown as it is. */
const formatted = (format: Intl.DateTimeFormat, at: string | number | Date): string =>
  isTime(at) ? format.format(new Date(at)) : String(at)

export const exactTime = (at: string | number | Date): string => formatted(exact, at)
export const clockTime = (at: string | number | Date): string => formatted(clock, at)
export const dayTime = (at: string | number | Date): string => formatted(day, at)

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

export function relativeTime(at: string, now: number): string {
  const ms = new Date(at).getTime() - now
  if (!isTime(at) || Math.abs(ms) > 7 * 86_400_000) return dayTime(at)
  if (Math.abs(ms) < 5_000) return 'just now'
  const [unit, size] = units.find(([, one]) => Math.abs(ms) >= one) ?? ['second', 1_000]
  return relative.format(Math.round(ms / size), unit)
}

const tickMs = 10_000

export function Time({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {relativeTime(at, now)}
    </time>
  )
}

/** How long something took, in the largest unit that says it. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(1)} h`
  return `${Math.round(ms / 86_400_000)} days`
}

/** Of this browser, as times are shown and entered. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** As a field for date and time takes it: local, to the minute. */
export function localInput(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
