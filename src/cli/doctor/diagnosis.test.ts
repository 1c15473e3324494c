// What the checks of posthorn doctor conclude from what they see, and that none of them keeps the others from
// reporting.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Migration } from '../../db/migrate.ts'
import { CannotCheck, ok, runChecks, warning, worstOf } from './diagnosis.ts'
import { schemaFinding } from './doctor-database.ts'
import { freeFinding, nodeFinding } from './doctor-machine.ts'
import { isLocal } from './doctor-probes.ts'
import {
  clockFinding,
  failuresFinding,
  integrationsFinding,
  queueFinding,
  readyFinding,
  retentionFinding,
  workflowsFinding,
} from './doctor-service.ts'

test('a check that breaks, cannot be done or takes too long is reported as that, and the others continue', async () => {
  const checks = [
    { name: 'good', run: () => ok('Well.') },
    { name: 'broken', run: () => Promise.reject(new Error('It broke.')) },
    { name: 'thrown', run: () => assert.fail('At once.') },
    { name: 'absent', run: () => Promise.reject(new CannotCheck('Nothing is there.')) },
    { name: 'slow', run: () => new Promise<never>(() => {}) },
  ]
  const checked = await runChecks(checks, undefined, 20)
  assert.deepEqual(
    checked.map(({ name, status, message }) => [name, status, message]),
    [
      ['good', 'ok', 'Well.'],
      ['broken', 'failed', 'It broke.'],
      ['thrown', 'failed', 'At once.'],
      ['absent', 'skipped', 'Nothing is there.'],
      ['slow', 'failed', 'It took longer than 0.02 s'],
    ],
  )
})

test('the worst of all is what counts, and what was skipped does not', () => {
  const named = (finding: ReturnType<typeof ok>) => ({ name: 'x', ...finding })
  assert.equal(worstOf([named(ok('a')), { name: 'x', status: 'skipped', message: '' }]), 'ok')
  assert.equal(worstOf([named(ok('a')), named(warning('b', 'c'))]), 'warning')
  assert.equal(worstOf([named(warning('b', 'c')), { name: 'x', status: 'failed', message: '' }]), 'failed')
})

test('Node is reported by its version', () => {
  const statuses = ['18.20.0', '20.18.9', '20.19.0', '22.0.0'].map((version) => nodeFinding(version).status)
  assert.deepEqual(statuses, ['failed', 'failed', 'ok', 'ok'])
})

test('little room is a warning, hardly any is a failure', () => {
  const gigabyte = 1024 ** 3
  assert.deepEqual(
    [10 * gigabyte, gigabyte, gigabyte / 8].map((free) => freeFinding('/data', free).status),
    ['ok', 'warning', 'failed'],
  )
})

const migration = (number: number): Migration => ({
  number,
  name: `000${number}-x.sql`,
  text: '',
  checksum: `sum-${number}`,
})

test('a schema is this version’s, older, newer, changed or not there', () => {
  const known = [migration(1), migration(2)]
  assert.equal(schemaFinding(known, known).status, 'ok')
  const older = schemaFinding(known, [migration(1)])
  assert.deepEqual([older.status, older.message], ['failed', 'The database is missing 0002-x.sql.'])
  assert.match(older.advice ?? '', /posthorn migrate/)
  const newer = schemaFinding(known, [...known, migration(3)])
  assert.match(newer.message, /newer version of Posthorn: 0003-x\.sql is unknown/)
  const changed = schemaFinding(known, [migration(1), { ...migration(2), checksum: 'other' }])
  assert.match(changed.message, /0002-x\.sql was changed/)
  assert.equal(schemaFinding(known, undefined).status, 'warning')
})

test('ready is the database and the worker, where the node has one', () => {
  assert.equal(readyFinding({ status: 'ready', database: 'up', worker: 'up' }).status, 'ok')
  assert.match(readyFinding({ status: 'ready', database: 'up' }).message, /no worker: another node must/)
  assert.match(readyFinding({ status: 'not ready', database: 'up', worker: 'down' }).message, /worker .* is stopped/)
  assert.equal(readyFinding({ status: 'not ready', database: 'down' }).status, 'failed')
  const held = readyFinding({ status: 'ready', database: 'up', worker: 'up', sending: 'held' })
  assert.deepEqual([held.status, /posthorn release --dry-run/.test(held.advice ?? '')], ['warning', true])
})

test('clocks may differ by what a header cannot report, and no more', () => {
  assert.equal(clockFinding({ service: 900, database: undefined }).status, 'ok')
  const behind = clockFinding({ service: -20_000, database: 10 })
  assert.equal(behind.status, 'warning')
  assert.equal(behind.message, 'The clock of the service is 20 s behind this machine’s.')
  assert.equal(clockFinding({ service: 0, database: 120_000 }).status, 'failed')
  const between = clockFinding({ service: 2_500, database: -2_500 })
  assert.equal(between.status, 'warning', 'they differ from each other')
  assert.equal(clockFinding({ service: 0, database: 0, node: 20 }).status, 'ok')
  const ofNode = clockFinding({ service: 0, database: 0, node: 30_000 })
  assert.deepEqual(
    [ofNode.status, ofNode.message],
    ['warning', 'The clock of the node is 30 s ahead of this machine’s.'],
  )
  assert.throws(() => clockFinding({ service: undefined, database: undefined }), CannotCheck)
})

test('a queue is late by its oldest', () => {
  const lanes = (due: number, oldestMs: number) => ({
    lanes: [
      { queue: 'jobs', due, oldestMs },
      { queue: 'tasks', due: 0, oldestMs: 0 },
    ],
    buried: { jobs: 0, tasks: 0 },
  })
  assert.deepEqual(
    [lanes(0, 0), lanes(5, 2_000), lanes(5, 90_000), lanes(5, 700_000)].map((queue) => queueFinding(queue).status),
    ['ok', 'ok', 'warning', 'failed'],
  )
})

test('failures are reported by their share, and with what fails most', () => {
  const statusOf = (total: number, count: number) =>
    failuresFinding({ total, series: [{ outcome: 'failed', total: count }] }, { data: [] }).status
  assert.deepEqual(
    [statusOf(0, 0), statusOf(100, 4), statusOf(100, 5), statusOf(100, 50)],
    ['ok', 'ok', 'warning', 'failed'],
  )
  assert.equal(statusOf(2, 2), 'warning', 'of two messages a share says little')
  const top = { detail: 'Provider error', provider: 'sendgrid', count: 3 }
  const { message } = failuresFinding({ total: 10, series: [{ outcome: 'failed', total: 3 }] }, { data: [top] })
  assert.equal(message, '3 of 10 messages failed in the last hour. Most often: Provider error (sendgrid, 3 times).')
})

const integration = (identifier: string, channel: string, more: object = {}) => ({
  identifier,
  channel,
  providerId: 'sendgrid',
  active: true,
  ...more,
})
const own = { name: 'Development', capturesAll: false, mayDoEverything: true }

test('integrations are reported by channel, and what only captures is a warning in Production', () => {
  const all = [
    integration('mail', 'email'),
    integration('built-in', 'sms', { providerId: 'platform-sms' }),
    integration('tried', 'push', { configurations: { capture: true } }),
    integration('off', 'chat', { active: false }),
  ]
  const found = integrationsFinding(all, own)
  assert.equal(found.status, 'ok')
  assert.equal(
    found.message,
    'Active: email, sms, push. Channels without one: in_app, chat. Captured in the outbox: built-in, tried.',
  )
  assert.equal(integrationsFinding(all, { ...own, name: 'Production' }).status, 'warning')
  const real = [integration('mail', 'email')]
  assert.equal(integrationsFinding(real, { ...own, name: 'Production' }).status, 'ok')
  assert.equal(integrationsFinding(real, { ...own, name: 'Production', capturesAll: true }).status, 'warning')
  assert.equal(integrationsFinding([], own).status, 'warning')
})

test('a workflow without an integration for its channel is named, with its environment and what to do', () => {
  const workflow = (identifier: string, has: boolean, active = true) => ({
    name: identifier,
    active,
    triggers: [{ identifier }],
    workflowIntegrationStatus: {
      channels: { email: { hasActiveIntegrations: true }, push: { hasActiveIntegrations: has } },
    },
  })
  const found = workflowsFinding(
    [workflow('shipped', false), workflow('fine', true), workflow('draft', false, false)],
    own,
  )
  assert.equal(found.status, 'warning')
  assert.equal(
    found.message,
    'In Development, shipped sends by push, for which there is no active integration: these messages fail.',
  )
  assert.match(found.advice ?? '', /^Create one for push with POST \/v1\/integrations/)
  assert.equal(workflowsFinding([workflow('fine', true)], own).status, 'ok')
})

test('a month that should be gone, or is kept, is a warning', () => {
  const now = Date.parse('2026-06-15T12:00:00Z')
  const kept = {
    retentionDays: 90,
    oldestMonth: '2026-02',
    nextDrop: { month: '2026-02', at: '2026-06-30T00:00:00Z' },
    keptMonths: [],
  }
  assert.equal(retentionFinding(kept, now).status, 'ok')
  assert.equal(
    retentionFinding({ ...kept, retentionDays: null, nextDrop: null }, now).message,
    'Everything is kept. The oldest month is 2026-02.',
  )
  const late = retentionFinding({ ...kept, nextDrop: { month: '2026-02', at: '2026-06-15T09:00:00Z' } }, now)
  assert.match(late.message, /2026-02 should have been dropped at/)
  assert.equal(retentionFinding({ ...kept, keptMonths: ['2025-12'] }, now).status, 'warning')
})

test('an address is this machine’s by its name', () => {
  for (const url of ['http://localhost:3000', 'http://127.0.0.2', 'http://[::1]:3000', 'https://x.localhost'])
    assert.ok(isLocal(url), url)
  for (const url of ['http://localhost.example.com', 'http://10.0.0.1', 'http://127.example.com'])
    assert.ok(!isLocal(url), url)
})
