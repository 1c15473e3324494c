// The service at rest: how soon it is ready, what it holds, what it uses.
import { setTimeout as sleep } from 'node:timers/promises'
import { processorSeconds, residentMegabytes, startService, withDataDirectory } from './service.ts'
import type { Measured } from './statistics.ts'

const settleMs = 30_000
const watchMs = 30_000
const residentBar = 130
const processorBar = 1
const readyBar = 2_000

export async function benchIdle(): Promise<Measured[]> {
  if (process.platform !== 'linux') return [{ what: 'idle', value: 'measured on Linux only' }]
  return withDataDirectory(async (directory) => {
    const first = await startService({ POSTHORN_DATA_DIR: directory })
    await first.stop()
    const service = await startService({ POSTHORN_DATA_DIR: directory })
    const ready = await fetch(`http://127.0.0.1:${service.port}/ready`)
    await sleep(settleMs)
    const before = await processorSeconds(service.pid)
    await sleep(watchMs)
    const used = ((await processorSeconds(service.pid)) - before) / (watchMs / 1000)
    const resident = await residentMegabytes(service.pid)
    await service.stop()
    const percent = used * 100
    return [
      { what: 'first start, initdb and migrations included', value: `${first.startedInMs.toFixed(0)} ms` },
      {
        what: 'ready after start, database initialised',
        value: `${service.startedInMs.toFixed(0)} ms`,
        bar: `≤ ${readyBar} ms`,
        met: ready.status === 200 && service.startedInMs <= readyBar,
      },
      {
        what: 'resident memory, idle',
        value: `${resident.toFixed(0)} MB`,
        bar: `≤ ${residentBar} MB`,
        met: resident <= residentBar,
      },
      {
        what: 'processor, idle',
        value: `${percent.toFixed(2)} %`,
        bar: `≤ ${processorBar} %`,
        met: percent <= processorBar,
      },
    ]
  })
}
