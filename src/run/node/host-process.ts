// This process on its machine, and whether another process of the same machine has ended.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { HostFacts } from '../../store/operate/nodes.ts'

export interface HostProcess {
  readonly facts: HostFacts
  /** True only where it is certain: a process of this machine, this boot and this PID namespace that is not there any more. */
  isGone(other: HostFacts): boolean
}

/** Of /proc/<pid>/stat. */
export interface ProcessStat {
  readonly pid: number
  readonly state: string
  readonly startedTicks: number
}

/** What is counted from the state, which is field 3. */
const startTimeAfterState = 22 - 3

export function hostProcess(): HostProcess {
  const facts = ownFacts()
  return { facts, isGone: (other) => isGone(facts, other) }
}

/** The name stands in brackets and may hold any character, brackets too; the state follows the last one. */
export function parseStat(text: string): ProcessStat | undefined {
  const nameEnd = text.lastIndexOf(')')
  const fields = text.slice(nameEnd + 2).split(' ')
  const [pid, state, startedTicks] = [Number.parseInt(text, 10), fields[0] ?? '', Number(fields[startTimeAfterState])]
  if (nameEnd === -1 || !/^[A-Za-z]$/.test(state) || !Number.isSafeInteger(pid + startedTicks)) return undefined
  return { pid, state, startedTicks }
}

function ownFacts(): HostFacts {
  const stat = readStat('self')
  // A /proc of another PID namespace numbers processes differently: its numbers would be taken for ours.
  const own = stat?.pid === process.pid ? stat : undefined
  return {
    hostName: hostname(),
    bootId: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? null,
    pidNamespace: attempt(() => readlinkSync('/proc/self/ns/pid')) ?? null,
    pid: process.pid,
    processStarted: own?.startedTicks ?? null,
  }
}

/** The host's name as well: machines that were cloned while they ran share a boot id. */
function isGone(own: HostFacts, { hostName, bootId, pidNamespace, pid, processStarted }: HostFacts): boolean {
  const isKnown = own.processStarted !== null && pid !== null && processStarted !== null
  const isHere = bootId !== null && pidNamespace !== null && bootId === own.bootId && pidNamespace === own.pidNamespace
  if (!isKnown || !isHere || hostName !== own.hostName) return false
  if (!existsProcess(pid)) return true
  // A process that exists and cannot be read is hidden from us: that means nothing.
  const stat = readStat(String(pid))
  if (stat === undefined) return false
  const isZombie = stat.state === 'Z' || stat.state === 'X'
  return isZombie || stat.startedTicks !== processStarted
}

/** By signal 0, not by /proc alone, from which a mount option hides the processes of other users. */
function existsProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function readStat(process: string): ProcessStat | undefined {
  const text = attempt(() => readFileSync(`/proc/${process}/stat`, 'utf8'))
  return text === undefined ? undefined : parseStat(text)
}

function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
