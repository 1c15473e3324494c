// Times of day as people write them: `09:00`, `09:00 AM`, `9am`. `9:00` alone could be either half of the day.

/** For schemas: 24-hour time, or 12-hour time with AM or PM; minutes may be left out of the latter. */
export const timePattern = '^(?:(?:0?[1-9]|1[0-2])(?::[0-5][0-9])? ?[AaPp][Mm]|(?:[01][0-9]|2[0-3]):[0-5][0-9])$'
export const timeWords = 'must be a time of day such as 09:00, 09:00 AM or 9am'

const parts = /^(\d{1,2})(?::(\d{2}))? ?([AaPp])?/
const form = new RegExp(timePattern)

export interface HourAndMinute {
  readonly hour: number
  readonly minute: number
}

/** Undefined when it is no time. */
export function timeOfDay(text: string): HourAndMinute | undefined {
  const [, hours = '', minutes = '0', half] = (form.test(text) ? parts.exec(text) : null) ?? []
  if (hours === '') return undefined
  const hour = Number(hours)
  if (half === undefined) return { hour, minute: Number(minutes) }
  return { hour: (hour % 12) + (half.toUpperCase() === 'P' ? 12 : 0), minute: Number(minutes) }
}

const two = (number: number): string => String(number).padStart(2, '0')

/** `HH:mm`; what is no time stays as it is. */
export function in24Hours(text: string): string {
  const time = timeOfDay(text)
  return time === undefined ? text : `${two(time.hour)}:${two(time.minute)}`
}

/** The forms in which times of day have always been stored: nodes of before can read no others. */
const stored = /^(?:(?:0?[1-9]|1[0-2]):[0-5][0-9] ?[AaPp][Mm]|(?:[01][0-9]|2[0-3]):[0-5][0-9])$/

/** As written where that can be stored; `9am` is `09:00 AM`. */
export function storedTime(text: string): string {
  const time = timeOfDay(text)
  if (time === undefined || stored.test(text)) return text
  const hour = time.hour % 12 === 0 ? 12 : time.hour % 12
  return `${two(hour)}:${two(time.minute)} ${time.hour < 12 ? 'AM' : 'PM'}`
}
