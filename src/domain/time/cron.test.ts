// Cron lines: what is read, what is refused, and when they come.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comesEveryYear, cronOf, nextCron } from './cron.ts'

function read(text: string) {
  const found = cronOf(text)
  assert.ok('cron' in found, `${text}: ${'mistake' in found ? found.mistake : ''}`)
  return found.cron
}

function mistake(text: unknown): string {
  const found = cronOf(text)
  return 'mistake' in found ? found.mistake : assert.fail(`${String(text)} was read`)
}

const next = (text: string, after: string, zone = 'UTC'): string | undefined =>
  nextCron(read(text), new Date(after), zone)?.toISOString()

test('fields are stars, values, ranges, steps, names and lists of these', () => {
  const { minutes, hours, monthDays, months, weekDays } = read('0,30,30 8-18/5 1,10-12,*/15 JAN,jul-sep MON-wed,7')
  assert.deepEqual(minutes, [0, 30])
  assert.deepEqual(hours, [8, 13, 18])
  assert.deepEqual(monthDays, [1, 10, 11, 12, 16, 31])
  assert.deepEqual(months, [1, 7, 8, 9])
  assert.deepEqual(weekDays, [0, 1, 2, 3])
  assert.deepEqual(read('* * * * SAT-SUN').weekDays, [0, 6])
  assert.deepEqual(read('* * * * */2').weekDays, [0, 2, 4, 6])
  assert.deepEqual(read(' 5\t4  *  * * ').hours, [4])
})

test('what cannot be read is reported with its field', () => {
  for (const [text, words] of [
    ['60 * * * *', /^has "60" as the minute: it accepts 0 to 59$/],
    ['* 24 * * *', /as the hour: it accepts 0 to 23$/],
    ['* * 0 * *', /as the day of the month: it accepts 1 to 31$/],
    ['* * * FEBRUARY *', /as the month: it accepts 1 to 12, JAN to DEC/],
    ['* * * 13 *', /as the month/],
    ['* * * * 8', /as the day of the week: it accepts 0 to 7, SUN to SAT$/],
    ['* * * * mon-fun', /as the day of the week/],
    ['50-10 * * * *', /the range ends before it begins/],
    ['* * * * FRI-MON', /the range ends before it begins/],
    ['*/0 * * * *', /a step is a number from 1 to 59/],
    ['* */24 * * *', /a step is a number from 1 to 23/],
    ['5/15 * * * *', /a step needs a range: write 5-59\/15$/],
    ['1,,2 * * * *', /^has "" as the minute/],
    ['* * L * *', /as the day of the month/],
    ['* * ? * *', /as the day of the month/],
    ['* * * * 1#2', /as the day of the week/],
    ['-1 * * * *', /as the minute/],
    ['1e1 * * * *', /as the minute/],
    ['* * * *', /^must be five fields/],
    ['0 0 9 * * *', /^must be five fields/],
    ['@daily', /^must be five fields/],
    ['', /^must be five fields/],
    [`${'1,'.repeat(200)}1 * * * *`, /^must be five fields/],
    [undefined, /^must be five fields/],
    [5, /^must be five fields/],
  ] as const)
    assert.match(mistake(text), words, String(text))
})

test('the next time is after the time, never at it', () => {
  assert.equal(next('0 9 * * *', '2024-05-10T08:59:59.999Z'), '2024-05-10T09:00:00.000Z')
  assert.equal(next('0 9 * * *', '2024-05-10T09:00:00.000Z'), '2024-05-11T09:00:00.000Z')
  assert.equal(next('* * * * *', '2024-05-10T09:00:30.500Z'), '2024-05-10T09:01:00.000Z')
  assert.equal(next('*/20 * * * *', '2024-12-31T23:40:00.000Z'), '2025-01-01T00:00:00.000Z')
})

test('a line goes by the clocks of the zone', () => {
  assert.equal(next('0 9 * * *', '2024-05-10T12:00:00Z', 'Europe/Berlin'), '2024-05-11T07:00:00.000Z')
  assert.equal(next('0 9 * * *', '2024-05-10T12:00:00Z', 'America/New_York'), '2024-05-10T13:00:00.000Z')
  assert.equal(next('0 9 * * *', '2024-05-10T12:00:00Z', 'Asia/Kathmandu'), '2024-05-11T03:15:00.000Z')
  assert.equal(next('0 0 * * SUN', '2024-05-11T12:30:00Z', 'Pacific/Auckland'), '2024-05-18T12:00:00.000Z')
})

test('months that lack a day are passed over, and leap days are waited for', () => {
  assert.equal(next('0 0 31 * *', '2024-01-31T00:00:00Z'), '2024-03-31T00:00:00.000Z')
  assert.equal(next('0 0 30 2,4 *', '2024-01-31T00:00:00Z'), '2024-04-30T00:00:00.000Z')
  assert.equal(next('0 0 29 2 *', '2024-02-29T00:00:00Z'), '2028-02-29T00:00:00.000Z')
  assert.equal(next('0 0 29 2 *', '2096-02-29T00:00:00Z'), '2104-02-29T00:00:00.000Z')
  assert.equal(next('0 0 31 2 *', '2024-01-01T00:00:00Z'), undefined)
})

test('days of the month and of the week add up when both are restricted', () => {
  const days = (text: string): string[] => {
    const found: string[] = []
    let at = '2024-09-01T00:00:00.000Z'
    while (found.length < 5) {
      at = next(text, at) ?? assert.fail(`${text} ends`)
      found.push(at.slice(8, 10))
    }
    return found
  }
  assert.deepEqual(days('0 12 13 * FRI'), ['06', '13', '20', '27', '04'])
  assert.deepEqual(days('0 12 * * FRI'), ['06', '13', '20', '27', '04'])
  assert.deepEqual(days('0 12 13,14 * *'), ['13', '14', '13', '14', '13'])
  // Every day of the week, however it is written, restricts nothing.
  assert.deepEqual(days('0 12 13,14 * 0-6'), ['13', '14', '13', '14', '13'])
})

test('a time that clocks skip occurs once, when they jump past it', () => {
  const jump = '2024-03-31T01:00:00.000Z'
  assert.equal(next('30 2 * * *', '2024-03-30T12:00:00Z', 'Europe/Berlin'), jump)
  assert.equal(next('*/15 2 * * *', '2024-03-30T12:00:00Z', 'Europe/Berlin'), jump)
  assert.equal(next('*/15 2 * * *', jump, 'Europe/Berlin'), '2024-04-01T00:00:00.000Z')
  assert.equal(next('0 3 * * *', '2024-03-30T12:00:00Z', 'Europe/Berlin'), jump)
  assert.equal(next('0 0 8 9 *', '2024-09-07T12:00:00Z', 'America/Santiago'), '2024-09-08T04:00:00.000Z')
})

test('a day that clocks skip comes when the next one begins', () => {
  assert.equal(next('0 12 30 12 *', '2011-12-29T12:00:00Z', 'Pacific/Apia'), '2011-12-30T10:00:00.000Z')
})

test('a time that clocks show twice comes the first time only', () => {
  assert.equal(next('30 2 * * *', '2024-10-26T12:00:00Z', 'Europe/Berlin'), '2024-10-27T00:30:00.000Z')
  assert.equal(next('30 2 * * *', '2024-10-27T00:30:00Z', 'Europe/Berlin'), '2024-10-28T01:30:00.000Z')
  assert.equal(next('*/30 * * * *', '2024-10-27T00:30:00Z', 'Europe/Berlin'), '2024-10-27T02:00:00.000Z')
  assert.equal(next('*/30 * * * *', '2024-10-27T01:10:00Z', 'Europe/Berlin'), '2024-10-27T02:00:00.000Z')
})

test('what never comes, or not in every year, is known', () => {
  for (const text of ['0 0 31 2 *', '0 0 30,31 2 *', '0 0 31 4,6,9,11 *', '0 0 29 2 *'])
    assert.equal(comesEveryYear(read(text)), false, text)
  for (const text of ['* * * * *', '0 0 29 2,3 *', '0 0 28,29 2 *', '0 0 31 2 MON', '0 0 31 12 *'])
    assert.equal(comesEveryYear(read(text)), true, text)
})
