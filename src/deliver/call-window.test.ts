// How many calls at once: tried on simulated providers, one with a fixed latency, one that queues, one that counts calls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, fuzzRounds, fuzzSeed } from '../../test/support/random.ts'
import type { CallWindow, EndedCall } from './call-window.ts'
import { createCallWindow } from './call-window.ts'

const at = (ms: number): Date => new Date(1_000_000_000 + ms)

interface Answer {
  readonly afterMs: number
  readonly ending?: EndedCall['ending']
}

/** Asked with the calls under way, this one among them. */
type SimulatedProvider = (underWay: number, nowMs: number) => Answer

interface Run {
  readonly window: CallWindow
  readonly provider: SimulatedProvider
  readonly fromMs?: number
  readonly forMs: number
  readonly stepMs?: number
  readonly max?: number
  /** How many calls there are to make at any time; without end if left out. */
  readonly wanted?: number
}

/** A millisecond or so at a time: calls that are over end, and others begin as far as the window lets them. */
function run({ window, provider, fromMs = 0, forMs, stepMs = 1, max = 500, wanted = Number.POSITIVE_INFINITY }: Run) {
  const underWay: { readonly beganMs: number; readonly endMs: number; readonly ending: EndedCall['ending'] }[] = []
  const endings = { answered: 0, 'slow-down': 0, failed: 0 }
  const sizes: number[] = []
  for (let ms = fromMs; ms < fromMs + forMs; ms += stepMs) {
    for (const call of underWay.filter(({ endMs }) => endMs <= ms)) {
      underWay.splice(underWay.indexOf(call), 1)
      endings[call.ending] += 1
      window.note({ beganAt: at(call.beganMs), ending: call.ending }, at(ms))
    }
    while (underWay.length < Math.min(wanted, window.size(max))) {
      const { afterMs, ending = 'answered' } = provider(underWay.length + 1, ms)
      underWay.push({ beganMs: ms, endMs: ms + afterMs, ending })
    }
    if (underWay.length < wanted) window.missed()
    sizes.push(window.size(max))
  }
  return { endings, sizes, last: window.size(max) }
}

/** It works on `k` calls at a time, each for 200 ms; those beyond wait. */
const queueing =
  (k: number): SimulatedProvider =>
  (underWay) => ({ afterMs: Math.round(200 * Math.max(1, underWay / k)) })

const fixed =
  (afterMs: number): SimulatedProvider =>
  () => ({ afterMs })

test('a provider whose latency stays as it is gets all the calls it may have, within seconds', () => {
  const { last, endings } = run({ window: createCallWindow(), provider: fixed(200), forMs: 3_000 })
  assert.equal(last, 500)
  assert.ok(endings.answered > 4_000, `${endings.answered} answers in 3 s`)
})

test('what is not wanted is not given: the window grows only while calls wait', () => {
  const { last } = run({ window: createCallWindow(), provider: fixed(200), forMs: 5_000, wanted: 50 })
  assert.equal(last, 50)
})

test('a provider that takes few calls at once, as one by SMTP does, never gets more', () => {
  const { sizes } = run({ window: createCallWindow(), provider: fixed(200), forMs: 5_000, max: 5 })
  assert.equal(Math.max(...sizes), 5)
})

test('a provider that makes calls wait gets about as many as it works on, and not fewer than are usual', () => {
  const { sizes } = run({ window: createCallWindow(), provider: queueing(100), forMs: 30_000 })
  const settled = sizes.slice(5_000)
  assert.ok(
    Math.min(...settled) >= 75 && Math.max(...settled) <= 200,
    `${Math.min(...settled)} to ${Math.max(...settled)}`,
  )
  const small = run({ window: createCallWindow(), provider: queueing(10), forMs: 30_000 }).sizes
  assert.ok(Math.min(...small) >= 50 && Math.max(...small) <= 100, `${Math.min(...small)} to ${Math.max(...small)}`)
})

test('however long that lasts: what a provider can do is measured again with half the calls, so none of ours wait there', () => {
  const { sizes } = run({ window: createCallWindow(), provider: queueing(100), forMs: 300_000, stepMs: 10 })
  assert.ok(Math.max(...sizes.slice(500)) <= 200, `${Math.max(...sizes.slice(500))}`)
})

test('a provider that has become slower by itself is seen to be no quicker with half the calls, and gets them again', () => {
  for (const [quick, slow] of [
    [200, 500],
    [1, 200],
    [20, 3_000],
  ] as const) {
    const window = createCallWindow()
    run({ window, provider: fixed(quick), forMs: 5_000 })
    const slower = run({ window, provider: fixed(slow), fromMs: 5_000, forMs: 20 * slow })
    assert.ok(Math.min(...slower.sizes) >= 50, `${Math.min(...slower.sizes)}`)
    assert.equal(slower.last, 500, `from ${quick} to ${slow} ms`)
    assert.ok(slower.endings.answered > 5_000, `from ${quick} to ${slow} ms: ${slower.endings.answered} answers`)
  }
})

test('one that was quick with few calls at a time, and becomes slow, gets more within seconds', () => {
  const window = createCallWindow()
  run({ window, provider: fixed(1), forMs: 5_000, wanted: 10 })
  const { last } = run({ window, provider: fixed(200), fromMs: 5_000, forMs: 3_000 })
  assert.equal(last, 500)
})

test('one that was quick and then makes calls wait gets few soon', () => {
  const window = createCallWindow()
  run({ window, provider: fixed(20), forMs: 5_000 })
  const { sizes } = run({ window, provider: queueing(100), fromMs: 5_000, forMs: 60_000 })
  const settled = sizes.slice(10_000)
  assert.ok(Math.max(...settled) <= 250, `${Math.min(...settled)} to ${Math.max(...settled)}`)
})

test('a provider that breaks down under too many calls is not brought there again and again', (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  for (const latencyMs of [20, 200]) {
    const provider: SimulatedProvider = (underWay) => {
      const jitter = 0.9 + random.integer(200) / 1_000
      return { afterMs: Math.max(1, Math.round(latencyMs * Math.max(1, underWay / 100) ** 3 * jitter)) }
    }
    const { endings } = run({ window: createCallWindow(), provider, forMs: 60_000 })
    // What a hundred calls at a time would come to.
    const best = (60_000 / latencyMs) * 100
    assert.ok(endings.answered > 0.47 * best, `${latencyMs} ms: ${endings.answered} of ${best}`)
  }
})

test('when all calls are late for a while, by chance, it has all that it may have within seconds all the same', (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  for (let round = 0; round < fuzzRounds(30); round += 1) {
    const latencyMs = random.oneOf([20, 200, 500])
    // Garbage being collected, connections being made: whatever begins in that time is late. Also while the window still grows.
    const fromMs = random.integer(6 * latencyMs)
    const untilMs = fromMs + 2 * latencyMs + random.integer(latencyMs)
    const lateMs = 100 + latencyMs + random.integer(3 * latencyMs)
    const provider: SimulatedProvider = (_underWay, nowMs) => ({
      afterMs: nowMs >= fromMs && nowMs < untilMs ? latencyMs + lateMs : latencyMs,
    })
    const { last } = run({ window: createCallWindow(), provider, forMs: untilMs + lateMs + 16 * latencyMs })
    assert.equal(
      last,
      latencyMs === 20 ? 200 : 500,
      `${latencyMs} ms, late by ${lateMs} ms from ${fromMs} to ${untilMs} ms`,
    )
  }
})

test('one that now and then is late for a while gets nearly as many calls as one that never is', (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const lateUntil = { ms: 0, nextMs: 2_000 }
  const provider: SimulatedProvider = (_underWay, nowMs) => {
    if (nowMs >= lateUntil.nextMs) {
      lateUntil.ms = nowMs + 400 + random.integer(200)
      lateUntil.nextMs = nowMs + 5_000 + random.integer(10_000)
    }
    return { afterMs: nowMs < lateUntil.ms ? 600 : 200 }
  }
  const { endings } = run({ window: createCallWindow(), provider, forMs: 60_000 })
  const steady = run({ window: createCallWindow(), provider: fixed(200), forMs: 60_000 })
  assert.ok(endings.answered > 0.7 * steady.endings.answered, `${endings.answered} of ${steady.endings.answered}`)
})

test('a provider that answers 429 beyond a rate is asked at about that rate, and few calls are refused', () => {
  let tokens = 200
  let lastMs = 0
  const counting: SimulatedProvider = (_underWay, nowMs) => {
    tokens = Math.min(200, tokens + ((nowMs - lastMs) * 200) / 1_000)
    lastMs = nowMs
    if (tokens < 1) return { afterMs: 50, ending: 'slow-down' }
    tokens -= 1
    return { afterMs: 200 }
  }
  const { endings, sizes } = run({ window: createCallWindow(), provider: counting, forMs: 60_000 })
  const perSecond = endings.answered / 60
  assert.ok(perSecond > 150 && perSecond < 210, `${perSecond} a second`)
  assert.ok(endings['slow-down'] < endings.answered / 10, `${endings['slow-down']} refused of ${endings.answered}`)
  assert.ok(Math.min(...sizes) >= 1)
})

test('one answer that asks for less halves the window, and those that began before it do not halve it again', () => {
  const window = createCallWindow()
  for (let count = 0; count < 30; count += 1) window.note({ beganAt: at(0), ending: 'slow-down' }, at(100 + count))
  assert.equal(window.size(500), 25)
  window.note({ beganAt: at(200), ending: 'slow-down' }, at(300))
  assert.equal(window.size(500), 12)
  for (let ms = 400; ms < 2_000; ms += 100) window.note({ beganAt: at(ms), ending: 'slow-down' }, at(ms + 50))
  assert.equal(window.size(500), 1, 'one call is left, or it would never be asked again')
})

test('calls without an answer shrink it; one that fails now and then does not', () => {
  let count = 0
  const failsAt = (every: number): SimulatedProvider => {
    return () => {
      count += 1
      return count % every === 0 ? { afterMs: 1_000, ending: 'failed' } : { afterMs: 200 }
    }
  }
  assert.ok(run({ window: createCallWindow(), provider: failsAt(100), forMs: 10_000 }).last > 400)
  assert.ok(run({ window: createCallWindow(), provider: failsAt(2), forMs: 10_000 }).last < 20)
})

test('a tenth of the calls must fail, and never fewer than three', () => {
  for (const [max, failures] of [
    [50, 5],
    [10, 3],
    [5, 3],
  ] as const) {
    const window = createCallWindow()
    assert.equal(window.size(max), max)
    const fail = () => window.note({ beganAt: at(0), ending: 'failed' }, at(100))
    for (let count = 1; count < failures; count += 1) fail()
    assert.equal(window.size(max), max, `${failures - 1} of ${max}`)
    fail()
    assert.equal(window.size(max), Math.floor(max / 2), `${failures} of ${max}`)
  }
})

test('what our own busy process adds is not taken for a slow provider', () => {
  /** Latency grows with the calls: at 50 of them it is 60 ms. */
  const sizeWith = (ownMs: number): number => {
    const window = createCallWindow()
    for (let ms = 0; ms < 10_000; ) {
      window.missed()
      const count = window.size(500)
      const latencyMs = Math.round(count * 1.2)
      for (let one = 0; one < count; one += 1) {
        window.note({ beganAt: at(ms), ending: 'answered', ownMs }, at(ms + latencyMs))
      }
      ms += latencyMs
    }
    return window.size(500)
  }
  assert.ok(sizeWith(0) <= 110, `${sizeWith(0)}`)
  assert.ok(sizeWith(200) > 150, `${sizeWith(200)}`)
})

test('a provider that answers within our own turns gets no more calls than keep it busy, and all of them when it becomes slow', (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const window = createCallWindow()
  let nowMs = 0
  /** An event loop whose turns take about 70 ms: a call is answered in the next turn or the one after it. */
  const turnMs = (): number => 40 + random.integer(60)
  const rounds = (count: number, providerMs: number): number[] => {
    const sizes: number[] = []
    for (let round = 0; round < count; round += 1) {
      window.missed()
      const size = window.size(500)
      for (let call = 0; call < size; call += 1) {
        const latencyMs = providerMs + turnMs() * (random.integer(2) + 1)
        window.note({ beganAt: at(nowMs), ending: 'answered', ownMs: 140 }, at(nowMs + latencyMs))
      }
      nowMs += providerMs + 200
      sizes.push(window.size(500))
    }
    return sizes
  }
  assert.deepEqual(new Set(rounds(100, 2).slice(5)), new Set([200]))
  assert.equal(rounds(40, 200).at(-1), 500)
  assert.equal(rounds(100, 2).at(-1), 200)
})

test('a provider in between gets five calls for each millisecond that it takes', () => {
  assert.equal(run({ window: createCallWindow(), provider: fixed(60), forMs: 5_000 }).last, 300)
  const busy = createCallWindow()
  for (let ms = 0; ms < 5_000; ms += 80) {
    busy.missed()
    for (let left = busy.size(500); left > 0; left -= 1) {
      busy.note({ beganAt: at(ms), ending: 'answered', ownMs: 40 }, at(ms + 80))
    }
  }
  assert.equal(busy.size(500), 300, 'of 80 ms one turn of 20 is ours')
})

test('a round in which our own part was measured much too long costs few calls', () => {
  const window = createCallWindow()
  run({ window, provider: fixed(200), forMs: 5_000 })
  for (let call = 0; call < 500; call += 1) {
    window.note({ beganAt: at(6_000), ending: 'answered', ownMs: 1_000 }, at(6_200))
  }
  assert.equal(window.size(500), 478)
})

test('a minute without calls, and it begins again from what is usual', () => {
  const window = createCallWindow()
  run({ window, provider: fixed(200), forMs: 5_000 })
  assert.equal(window.size(500), 500)
  window.note({ beganAt: at(70_000), ending: 'answered' }, at(70_200))
  assert.equal(window.size(500), 50)
})

test('a maximum that is nothing for a while, and returns, leaves the calls as they were', () => {
  const window = createCallWindow()
  assert.equal(window.size(5), 5)
  assert.equal(window.size(0), 0)
  assert.equal(window.size(5), 5)
  window.note({ beganAt: new Date(1_000), ending: 'slow-down' }, new Date(1_100))
  assert.ok(window.size(5) >= 1)
})
