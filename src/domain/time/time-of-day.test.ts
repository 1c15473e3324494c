// Times of day as people write them, and as they are stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { in24Hours, storedTime, timeOfDay } from './time-of-day.ts'

test('12-hour and 24-hour times are understood, with or without minutes and blanks', () => {
  const times = ['9am', '9 AM', '12am', '12pm', '9:30pm', '09:30 PM', '09:00', '23:59', '00:00']
  assert.deepEqual(times.map(in24Hours), [
    ...['09:00', '09:00', '00:00', '12:00', '21:30', '21:30', '09:00', '23:59', '00:00'],
  ])
})

test('what is no time of day is none', () => {
  for (const text of [
    '',
    '9',
    '9:00',
    '13pm',
    '0am',
    '24:00',
    '9:60',
    '09:00:00',
    'am',
    '9 in the morning',
    ' 9am',
    '9am ',
  ]) {
    assert.equal(timeOfDay(text), undefined, text)
  }
})

test('what could always be stored is stored as written, and the rest in the same forms', () => {
  assert.deepEqual(['09:00 AM', '9:30 pm', '17:00', '9am', '12am', '12 PM'].map(storedTime), [
    ...['09:00 AM', '9:30 pm', '17:00', '09:00 AM', '12:00 AM', '12:00 PM'],
  ])
})
