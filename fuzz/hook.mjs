// Loaded into the service under test (--import): measures the processor time of each turn of the main thread, and keeps every
// call on this machine. The service itself knows nothing of it.
import dns from 'node:dns'
import { appendFileSync, existsSync, openSync, readSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { isMainThread } from 'node:worker_threads'

/** How often it looks. A turn is reported as at most this much longer than it was: shorter turns in between count with it. */
const lookEveryMs = 5
/** What a public name resolves to here; nothing connects to it. */
const publicAddress = { address: '93.184.215.14', family: 4 }

const file = process.env.POSTHORN_FUZZ_TURNS
if (file !== undefined && isMainThread) {
  keepHere()
  watchTurns(file, Number(process.env.POSTHORN_FUZZ_TURN_MS ?? 50))
}

function watchTurns(into, reportMs) {
  // Where Linux reports how long a thread has run, in nanoseconds. A clock would count what other programs took.
  const path = `/proc/self/task/${process.pid}/schedstat`
  const schedule = existsSync(path) ? openSync(path, 'r') : undefined
  const buffer = Buffer.alloc(64)
  const cpuMs = () => {
    if (schedule === undefined) {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000
    }
    const length = readSync(schedule, buffer, 0, buffer.length, 0)
    return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6
  }
  let lastMs = cpuMs()
  let lastAt = Date.now()
  setInterval(() => {
    const nowMs = cpuMs()
    const at = Date.now()
    if (nowMs - lastMs >= reportMs) {
      appendFileSync(into, `${JSON.stringify({ from: lastAt, to: at, cpuMs: Math.round(nowMs - lastMs) })}\n`)
    }
    lastMs = nowMs
    lastAt = at
  }, lookEveryMs).unref()
}

function keepHere() {
  const isHere = (host) => host === undefined || host === 'localhost' || host === '::1' || /^127\./.test(host)
  const { connect } = net.Socket.prototype
  net.Socket.prototype.connect = function (...args) {
    const options = Array.isArray(args[0]) ? args[0][0] : args[0]
    if (options !== null && typeof options === 'object' && !options.path && !isHere(options.host)) {
      const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
      process.nextTick(() => this.destroy(refused))
      return this
    }
    return connect.apply(this, args)
  }
  const { lookup } = dns.promises
  dns.promises.lookup = async (name, options) => {
    if (net.isIP(name) !== 0 || name === 'localhost') return lookup(name, options)
    return options?.all ? [publicAddress] : publicAddress
  }
  syncBuiltinESMExports()
}
