// The examples below deploy/, compose.yaml and the Dockerfile: they parse, pin what they run, and name what exists.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config.ts'
import { documentedRoutes } from '../../src/http/registry.ts'
import type { Json } from '../support/app.ts'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'
import { isInstalled } from './proxy-scene.ts'

const variables = new Set(Object.values(settings).map(({ variable }) => variable))
/** Not of the configuration: of Node, and of the image of PostgreSQL. */
const others = new Set(['NODE_ENV', 'POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD'])
const paths = readdirSync(join(projectRoot, 'deploy'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(projectRoot.length + 1))
const texts = new Map([...paths, 'compose.yaml', 'Dockerfile'].map((path) => [path, readProjectFile(path)]))
const textOf = (path: string): string => texts.get(path) ?? ''

/** A tag that says which version, or a digest. */
const isPinned = (image: string): boolean => /(?::v?\d[\w.-]*|@sha256:[0-9a-f]{64})$/.test(image)

function documents(path: string): Json[] {
  return parseAllDocuments(textOf(path)).map((document) => {
    assert.deepEqual(document.errors, [], path)
    return document.toJS()
  })
}

const manifests = documents('deploy/kubernetes/posthorn.yaml')
const deployment = manifests.find(({ kind }) => kind === 'Deployment')
const pod = deployment.spec.template.spec
const container = pod.containers[0]

test('every example is listed in the table', () => {
  const listed = [...textOf('deploy/README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path)
  const folders = new Set(paths.map((path) => path.split('/')[1] ?? '').filter((name) => name !== 'README.md'))
  assert.deepEqual(
    [...folders].filter((folder) => !listed.some((path) => path.startsWith(folder))),
    [],
  )
})

test('every variable that an example sets is one of the configuration', () => {
  const named = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/\b(?:POSTHORN_|POSTGRES_|DATABASE_)[A-Z0-9_]+/g)].map(([name]) => [path, name] as const),
  )
  const assigned = [...textOf('deploy/systemd/posthorn.service').matchAll(/^Environment=(\w+)=/gm)]
  const inPod = container.env.map(({ name }: { name: string }) => name)
  const all = [
    ...named,
    ...assigned.map(([, name = '']) => ['systemd', name] as const),
    ...inPod.map((name: string) => ['kubernetes', name] as const),
  ]
  assert.ok(all.length > 20)
  assert.deepEqual(
    all.filter(([, name]) => !variables.has(name) && !others.has(name)),
    [],
  )
})

test('images of others are pinned by their digest, our own to a version', () => {
  const { services } = parse(textOf('compose.yaml'))
  const ofOthers = [
    services.postgres.image,
    ...[...textOf('Dockerfile').matchAll(/^ARG NODE_IMAGE=(\S+)/gm)].map(([, image = '']) => image),
  ]
  assert.equal(ofOthers.length, 2)
  for (const image of ofOthers) assert.match(image, /^[a-z]+:\d+(?:-[a-z-]+)?@sha256:[0-9a-f]{64}$/)
  const images = [container.image, ...ofOthers]
  assert.deepEqual(
    images.filter((image) => !isPinned(image)),
    [],
  )
  assert.deepEqual(['postgres', 'postgres:latest', 'postgres:18'].map(isPinned), [false, false, true])
})

test('probes, health checks and proxies use routes that exist', () => {
  const known = new Set(['/health', '/ready', '/metrics', '/socket.io/', '/v1/inbox/ws', '/v1/inbox/stream'])
  for (const { path } of documentedRoutes) known.add(path)
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]
  const used = [
    ...probes.map(({ httpGet }) => httpGet.path),
    ...[...textOf('deploy/caddy/Caddyfile').matchAll(/(?:health_uri|respond) (\S+)/g)].map(([, path = '']) => path),
    ...[...textOf('Dockerfile').matchAll(/3000}(\/\w+)`/g)].map(([, path = '']) => path),
    ...(/location ~ \^\/\(\?:(\S+)\) \{/.exec(textOf('deploy/nginx/posthorn.conf'))?.[1] ?? 'none')
      .split('|')
      .map((path) => `/${path.replaceAll('\\', '')}`),
  ]
  assert.equal(used.length, 10)
  assert.deepEqual(
    used.filter((path) => !known.has(path)),
    [],
  )
  assert.ok(probes.every(({ httpGet }) => container.ports.some(({ name }: Json) => name === httpGet.port)))
})

test('the pods and the services of compose have limits, a read-only root and no rights', () => {
  assert.equal(pod.securityContext.runAsNonRoot, true)
  assert.ok(pod.securityContext.runAsUser > 0)
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.ok(container.resources.limits.memory && container.resources.requests.cpu)
  assert.deepEqual(
    container.volumeMounts.map(({ name }: Json) => name).sort(),
    pod.volumes.map(({ name }: Json) => name).sort(),
  )
  const { services } = parse(textOf('compose.yaml'))
  assert.equal(services.posthorn.read_only, true)
  for (const service of [services.posthorn, services.postgres]) {
    assert.ok(service.mem_limit && service.pids_limit && service.cap_drop.includes('ALL') && service.stop_grace_period)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'])
    assert.ok(service.privileged === undefined && service.network_mode === undefined && service.restart)
  }
  assert.ok(services.postgres.healthcheck)
})

test('compose opens the service to this machine only, starts it after its database, and keeps what both store', () => {
  const { services, volumes } = parse(textOf('compose.yaml'))
  assert.deepEqual(services.posthorn.ports, ['127.0.0.1:3000:3000'])
  assert.equal(services.postgres.ports, undefined)
  assert.deepEqual(services.posthorn.depends_on, { postgres: { condition: 'service_healthy' } })
  assert.equal(services.posthorn.init, true)
  const kept = [services.posthorn, services.postgres].flatMap((one) =>
    one.volumes.map((line: string) => line.split(':')),
  )
  assert.deepEqual(kept, [
    ['posthorn-data', '/var/lib/posthorn'],
    ['postgres-data', '/var/lib/postgresql'],
  ])
  assert.deepEqual(Object.keys(volumes).sort(), kept.map(([name]) => name).sort())
  // Without a default: a key that all the world knows would be none.
  assert.match(services.posthorn.environment.POSTHORN_ENCRYPTION_KEY, /^\$\{POSTHORN_ENCRYPTION_KEY:\?/)
  assert.equal(services.posthorn.volumes[0].split(':')[1], /POSTHORN_DATA_DIR=(\S+)/.exec(textOf('Dockerfile'))?.[1])
})

test('the parts of the manifests find each other', () => {
  const { labels } = deployment.spec.template.metadata
  const service = manifests.find(({ kind }) => kind === 'Service')
  const budget = manifests.find(({ kind }) => kind === 'PodDisruptionBudget')
  for (const selector of [
    deployment.spec.selector.matchLabels,
    service.spec.selector,
    budget.spec.selector.matchLabels,
  ])
    assert.deepEqual(selector, labels)
  assert.equal(service.spec.ports[0].targetPort, container.ports[0].name)
  // Fewer than there are, or no node could ever be drained.
  assert.ok(budget.spec.minAvailable < deployment.spec.replicas)
  assert.equal(container.image.split(':').at(-1), JSON.parse(readProjectFile('package.json')).version)
})

const hasSystemd = isInstalled('systemd-analyze')
test('systemd finds nothing wrong with the unit', {
  skip: hasSystemd ? false : 'systemd-analyze is not installed, so systemd cannot read the unit',
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-unit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'posthorn.service')
  writeFileSync(path, textOf('deploy/systemd/posthorn.service').replace('/usr/bin/node', process.execPath))
  const verify = () => spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
  assert.deepEqual([verify().status, verify().stderr], [0, ''])
  writeFileSync(path, `${textOf('deploy/systemd/posthorn.service')}\n[Service]\nMemoryMx=2G\n`)
  assert.match(verify().stderr, /MemoryMx/)
})

test('the unit runs a file of the package, as a user of its own, and waits for the service to drain', () => {
  const unit = textOf('deploy/systemd/posthorn.service')
  const settingOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''
  const script = /node_modules\/posthorn\/(\S+) start$/.exec(settingOf('ExecStart'))?.[1] ?? ''
  assert.ok(JSON.parse(readProjectFile('package.json')).files.includes(script), script)
  assert.ok(JSON.parse(readProjectFile('package.json')).scripts.start.includes(settingOf('ExecStart').split(' ')[1]))
  assert.equal(settingOf('User'), 'posthorn')
  assert.equal(settingOf('ProtectSystem'), 'strict')
  assert.ok(Number(settingOf('TimeoutStopSec')) > 30)
  for (const line of unit.split('\n')) assert.match(line, /^(?:#.*|\[\w+\]|[A-Z]\w+=.*|)$/, line)
})
