// Dates in templates: zones, languages, and what counts as a date.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plain } from '../../test/support/render-scene.ts'

const at = '2024-07-01T22:05:09.007Z'
const berlin = { timezone: 'Europe/Berlin' }

test('a time is shown in the subscriber’s zone, another on request, else in UTC', () => {
  const shown = (zone: Readonly<Record<string, unknown>>, more = '') =>
    plain(`{{ at | date: "%Y-%m-%d %H:%M %z"${more} }}`, { at }, zone)
  assert.equal(shown(berlin), '2024-07-02 00:05 +0200')
  assert.equal(shown(berlin, ', "America/New_York"'), '2024-07-01 18:05 -0400')
  assert.equal(shown(berlin, ', -330'), '2024-07-02 03:35 +0530')
  for (const timezone of [null, undefined, '', 'Mars/Base', 5])
    assert.equal(shown({ timezone }), '2024-07-01 22:05 +0000')
})

test('summer time begins and ends where the zone says', () => {
  const hour = (timestamp: string) => plain('{{ x | date: "%H:%M%:z" }}', { x: timestamp }, berlin)
  assert.equal(hour('2024-03-31T00:59:59Z'), '01:59+01:00')
  assert.equal(hour('2024-03-31T01:00:00Z'), '03:00+02:00')
  assert.equal(hour('2024-10-27T00:30:00Z'), '02:30+02:00')
  assert.equal(hour('2024-10-27T01:30:00Z'), '02:30+01:00')
})

test('names of days and months are in the subscriber’s language', () => {
  const named = (locale: unknown) => plain('{{ at | date: "%A, %-d. %B" }}', { at }, { ...berlin, locale })
  assert.equal(named('de_DE'), 'Dienstag, 2. Juli')
  assert.equal(named('fr'), 'mardi, 2. juillet')
  for (const locale of [null, 'xx-invalid-tag-that-is-none', 7]) assert.equal(named(locale), 'Tuesday, 2. July')
})

test('a date without a zone is a wall clock’s and stands as it is', () => {
  const shown = (x: string) => plain('{{ x | date: "%d %b %Y %H:%M" }}', { x }, { timezone: 'America/New_York' })
  assert.equal(shown('2024-05-01'), '01 May 2024 00:00')
  assert.equal(shown('2024-05-01 09:30'), '01 May 2024 09:30')
  assert.equal(shown('2024-05-01T09:30:00.5'), '01 May 2024 09:30')
  assert.equal(shown('May 1, 2024'), '01 May 2024 00:00')
  assert.equal(shown('Wed, 01 May 2024 09:30:00 GMT'), '01 May 2024 05:30')
})

test('numbers are seconds, or milliseconds when they are as many', () => {
  const shown = (x: unknown) => plain('{{ x | date: "%F %T" }}', { x }, { timezone: 'UTC' })
  for (const x of [1_719_871_509, '1719871509', 1_719_871_509_007, '1719871509007'])
    assert.equal(shown(x), '2024-07-01 22:05:09')
})

test('what is no date is printed as it is', () => {
  for (const x of ['soon', '2024-13-45', '', 'x'.repeat(100), '9'.repeat(400)])
    assert.equal(plain('{{ x | date: "%Y" }}', { x }), x)
  assert.equal(plain('[{{ x | date: "%Y" }}]'), '[]')
})

test('every code of strftime, with its flags', () => {
  const format = '%C %d %e %D %F %H %I %j %k %l %L %m %M %N %p %P %q %R %s %S %T %u %U %w %W %y %Y %%'
  assert.equal(
    plain(`{{ at | date: "${format}" }}`, { at }, { timezone: 'UTC' }),
    '20 01  1 07/01/24 2024-07-01 22 10 183 22 10 007 07 05 007000000 PM pm st 22:05 1719871509 09 22:05:09 1 26 1 27 24 2024 %',
  )
  assert.equal(plain('{{ at | date: "%-d %_d %^b %-H%-M" }}', { at }, { timezone: 'UTC' }), '1  1 JUL 225')
  assert.equal(plain('{{ at | date: "%v %999d %é" }}', { at }), '%v %999d %é')
  assert.equal(plain('{{ at | date: "%Z" }}', { at }, { ...berlin, locale: 'en-GB' }), 'CEST')
})

test('dateFormat takes patterns of letters', () => {
  const shown = (pattern: string) =>
    plain('{{ at | dateFormat: pattern }}', { at, pattern }, { ...berlin, locale: 'en-GB' })
  assert.equal(shown("EEEE, do MMMM yyyy 'at' HH:mm"), 'Tuesday, 2nd July 2024 at 00:05')
  assert.equal(shown('dd/MM/yy h:mm a xxx'), '02/07/24 12:05 AM +02:00')
  assert.equal(shown('PPP'), '2 July 2024')
  assert.equal(shown("''HH''"), "'00'")
  assert.equal(shown('%d.%m.'), '02.07.')
  assert.equal(plain('{{ x | dateFormat: "yyyy" }}', { x: 'never' }), 'never')
})

test('now is the time that the renderer was given', () => {
  assert.equal(
    plain('{{ "now" | date: "%F %T" }} {{ "today" | date: "%Y" }}', {}, { timezone: 'UTC' }),
    '2024-03-15 12:30:45 2024',
  )
})
