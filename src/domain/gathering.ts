// Calls that come together share one: what is asked for one at a time is looked up many at a time.

type Find<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>

interface Asked<Value> {
  readonly key: string
  resolve(value: Value | undefined): void
  reject(error: unknown): void
}

/**
 * Those of one turn are looked up at once, and those that come meanwhile when that is done, at most `max` at a time. Each call is
 * answered by a lookup that began after it.
 */
export function gathering<Value>(find: Find<Value>, max: number): (key: string) => Promise<Value | undefined> {
  let waiting: Asked<Value>[] = []
  let isBusy = false

  async function work(): Promise<void> {
    isBusy = true
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const some = waiting.slice(0, max)
      waiting = waiting.slice(max)
      try {
        const found = await find([...new Set(some.map(({ key }) => key))])
        for (const { key, resolve } of some) resolve(found.get(key))
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
    isBusy = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (!isBusy) void work()
    })
}
