// Processes of this machine that have ended, and those about which nothing can be said.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { HostFacts } from '../../store/operate/nodes.ts'
import { hostProcess, parseStat } from './host-process.ts'

const { facts, isGone } = hostProcess()
const noProc = facts.processStarted === null ? 'this platform has no /proc' : false

test('the state and the start of a process are read whatever its name is', () => {
  const rest = 'S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21'
  for (const name of ['node', 'a b', 'x) Z 1 (y', ')']) {
    assert.deepEqual(parseStat(`42 (${name}) ${rest}`), { pid: 42, state: 'S', startedTicks: 987654 }, name)
  }
  for (const text of ['', '42', '42 (node)', '42 (node) S 1 2', 'x (node) S 1'])
    assert.equal(parseStat(text), undefined)
})

test('this process is there', { skip: noProc }, () => {
  assert.equal(facts.pid, process.pid)
  assert.ok(facts.bootId !== null && facts.pidNamespace?.startsWith('pid:['))
  assert.equal(isGone(facts), false)
})

test('a pid with another start time is another process', { skip: noProc }, () => {
  assert.equal(isGone({ ...facts, processStarted: (facts.processStarted ?? 0) + 1 }), true)
})

test('of another machine, boot or namespace, or of one that said nothing, nothing is known', { skip: noProc }, () => {
  const gone: HostFacts = { ...facts, processStarted: 1 }
  assert.equal(isGone(gone), true)
  for (const elsewhere of [
    { hostName: 'another' },
    { bootId: 'another' },
    { bootId: null },
    { pidNamespace: 'pid:[1]' },
    { pidNamespace: null },
    { pid: null },
    { processStarted: null },
  ]) {
    assert.equal(isGone({ ...gone, ...elsewhere }), false, JSON.stringify(elsewhere))
  }
})

test('a process that was killed is gone, and one that runs is not', { skip: noProc }, async () => {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'])
  await once(child.stdout, 'data')
  const stat = parseStat(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))
  const other = { ...facts, pid: child.pid ?? 0, processStarted: stat?.startedTicks ?? 0 }
  assert.equal(isGone(other), false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(isGone(other), true)
})

test('a process that ended and was not reaped is gone', { skip: noProc }, async (t) => {
  // The shell becomes a program that does not know of the child.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'])
  t.after(() => parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout.setEncoding('utf8'), 'data')
  const pid = Number.parseInt(line, 10)
  const statOf = () => parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const other = { ...facts, pid, processStarted: statOf()?.startedTicks ?? 0 }
  assert.equal(isGone(other), false)
  while (statOf()?.state !== 'Z') await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(isGone(other), true)
})
