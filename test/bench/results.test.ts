// The pure parts of the bench: ratios, the check against stored results, the report and its picture.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../bench/options.ts'
import { chartOf, placeOf, timesBetter } from '../../bench/real/chart.ts'
import { floorRows } from '../../bench/real/floor.ts'
import type { ResultRow, Results } from '../../bench/real/results.ts'
import { markdownOf, regressions, resultRowOf } from '../../bench/real/results.ts'
import { compared, isMet } from '../../bench/real/table.ts'
import type { Rounds } from '../../bench/real/turns.ts'
import { percentile } from '../../bench/statistics.ts'

const rate: ResultRow = {
  id: 'rate',
  title: 'rate, end to end',
  unit: '/s',
  better: 'higher',
  handmade: 500,
  posthorn: 1000,
  ratio: 2,
}
const p50: ResultRow = { ...rate, id: 'p50', title: 'p50', unit: 'ms', better: 'lower', ratio: 0.5 }

const resultsOf = (...rows: ResultRow[]): Results => ({
  measuredAt: '2026-03-14T12:00:00.000Z',
  machine: '2 × processor',
  versions: { Node: '20.19.0' },
  scale: 1,
  real: { id: 'real', title: 'The table', rows: [{ ...rate, id: 'end-to-end', bar: 4 }] },
  sweep: [{ id: 'middle', title: 'The middle <1>', rows }],
})

test('the ratio is the median of the rounds’ own ratios', () => {
  assert.deepEqual(compared([100, 10, 100], [200, 30, 100]), { handmade: 100, posthorn: 100, ratio: 2 })
  assert.deepEqual(compared(undefined, [7]), { handmade: undefined, posthorn: 7, ratio: undefined })
  assert.equal(compared([0], [7]).ratio, undefined)
})

test('a percentile is one of the samples', () => {
  assert.equal(percentile([3, 1, 2, 4], 0.5), 3)
  assert.equal(percentile([3, 1, 2, 4], 0.99), 4)
})

test('a bar is a floor where higher is better and a ceiling where lower is', () => {
  const measure = { title: '', unit: '', bar: 1 }
  assert.equal(isMet({ ...measure, better: 'higher' }, 1.1), true)
  assert.equal(isMet({ ...measure, better: 'lower' }, 1.1), false)
})

test('a ratio that got worse by more than a fifth is reported, in either direction', () => {
  const stored = resultsOf(rate, p50)
  const fresh = (higher: number, lower: number) => resultsOf({ ...rate, ratio: higher }, { ...p50, ratio: lower })
  assert.deepEqual(regressions(stored, fresh(1.61, 0.59)), [])
  assert.deepEqual(regressions(stored, fresh(9, 0.1)), [])
  const worse = regressions(stored, fresh(1.59, 0.61))
  assert.equal(worse.length, 2)
  assert.match(worse[0] ?? '', /^middle, rate: the ratio is 1\.59, stored is 2\.00/)
})

test('what was not stored, or was left out this time, is not judged', () => {
  assert.deepEqual(regressions(resultsOf(), resultsOf({ ...rate, ratio: 0.1 })), [])
  assert.deepEqual(regressions(resultsOf({ ...rate, ratio: null }), resultsOf({ ...rate, ratio: 0.1 })), [])
  assert.deepEqual(regressions(resultsOf(rate), { ...resultsOf(), real: null, sweep: [] }), [])
})

test('a ratio that a measured group has no more is not taken for one that held', () => {
  const says = ['middle, rate: there is no ratio, stored is 2.00 (higher is better)']
  assert.deepEqual(regressions(resultsOf(rate), resultsOf({ ...rate, ratio: null })), says)
  assert.deepEqual(regressions(resultsOf(rate, p50), resultsOf(p50)), says)
})

test('numbers are stored with four digits, and what is missing as null', () => {
  const measure = { title: 't', unit: 'ms', better: 'lower' } as const
  const row = resultRowOf({ id: 'x', measure, handmade: 1234.567, posthorn: undefined, ratio: Number.NaN })
  assert.deepEqual(row, { id: 'x', ...measure, handmade: 1235, posthorn: null, ratio: null })
})

test('the report names date, machine and versions, and both tables', () => {
  const text = markdownOf(resultsOf(rate, p50, { ...p50, id: 'feed-p50', title: 'feed' }))
  assert.match(text, /Measured 2026-03-14 on 2 × processor/)
  assert.match(text, /Node 20\.19\.0/)
  assert.match(text, /\| rate, end to end \| 500\/s \| 1,000\/s \| 2\.00 \| ≥ 4 \| missed \|/)
  assert.match(text, /1,000 \/ 500 = \*\*2\.00\*\*/)
  assert.match(text, /\| feed \| 500 ms \| 1,000 ms \| 0\.50 \|/)
})

test('the picture is to the right where Posthorn is better, whichever way a measure counts', () => {
  assert.equal(timesBetter(rate), 2)
  assert.equal(timesBetter(p50), 2)
  assert.equal(timesBetter({ better: 'lower', ratio: null }), undefined)
  assert.ok(placeOf(2) > placeOf(1) && placeOf(0.5) < placeOf(1))
  assert.equal(placeOf(1_000), placeOf(16))
})

test('the picture is well-formed: text is escaped, every measure has a bar', () => {
  const svg = chartOf(resultsOf(rate, p50))
  assert.match(svg, /^<svg [^>]+>/)
  assert.match(svg, /The middle &lt;1&gt;/)
  assert.equal(svg.match(/<rect class="(better|worse)"/g)?.length, 2)
})

test('options are read, and what is not one is refused', () => {
  const options = readOptions(['real', '--only', 'a,b', '--side', 'posthorn', '--scale', '0.5'], {})
  assert.deepEqual(options.names, ['real'])
  assert.deepEqual(options.only, ['a', 'b'])
  assert.deepEqual(options.sides, ['posthorn'])
  assert.equal(options.scale, 0.5)
  assert.throws(() => readOptions(['--side', 'other'], {}), /--side must be one of/)
  assert.throws(() => readOptions(['--scale', 'much'], {}), /--scale must be a number/)
  assert.throws(() => readOptions(['--unknown'], {}))
  assert.throws(() => readOptions(['--check', '--side', 'posthorn'], {}), /--check compares ratios, which one side/)
  assert.throws(() => readOptions(['accept', '--check'], {}), /--check compares the whole report/)
})

test('a bar is a number beside the hand-made service, and a bare server meets it or not', () => {
  const results = new Map([
    [
      'handmade',
      new Map([
        ['single-accept', [900, 1_000, 1_100]],
        ['cpu-steady', [4]],
        ['feed-p50', [9]],
        ['wal-burst', [7]],
      ]),
    ],
    [
      'bare',
      new Map([
        ['single-accept', [2_000, 2_400, 2_900]],
        ['cpu-steady', [1.4]],
        ['wal-burst', [5]],
      ]),
    ],
  ] as const)
  const rows = floorRows(results as unknown as Rounds).map(({ value, ...row }) => ({
    ...row,
    value: value.trim().split(/ +/),
  }))
  assert.deepEqual(rows, [
    { what: 'single accept, 64 clients', value: ['1,000', '2,400', '3,000', '/s'], bar: '≥ 3', met: false },
    { what: 'CPU per notification at 200/s', value: ['4.00', '1.40', '1.60', 'ms'], bar: '≤ 0.4', met: true },
  ])
})
