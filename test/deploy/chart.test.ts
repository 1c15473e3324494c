// The Helm chart gives what the plain manifests give, and each of its values does what it says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config.ts'
import type { Json } from '../support/app.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'
import { renderChart } from './chart.ts'

const kindOf = (objects: Json[], kind: string): Json => objects.find((one) => one.kind === kind)
const podOf = (objects: Json[]): Json => kindOf(objects, 'Deployment').spec.template.spec
const variables = new Set<string>(Object.values(settings).map(({ variable }) => variable))

test('without values of one’s own it runs the same pods as the plain manifests', () => {
  const plain = parseAllDocuments(readProjectFile('deploy/kubernetes/posthorn.yaml')).map((one) => one.toJS())
  const chart = renderChart()
  assert.deepEqual(chart.map(({ kind }) => kind).sort(), ['Deployment', 'PodDisruptionBudget', 'Service'])
  const [own, theirs] = [podOf(chart), podOf(plain)]
  assert.deepEqual(own.containers[0], { ...theirs.containers[0], imagePullPolicy: 'IfNotPresent' })
  for (const name of ['securityContext', 'volumes', 'terminationGracePeriodSeconds', 'automountServiceAccountToken'])
    assert.deepEqual(own[name], theirs[name], name)
  assert.deepEqual(kindOf(chart, 'Deployment').spec.strategy, kindOf(plain, 'Deployment').spec.strategy)
  assert.equal(kindOf(chart, 'Deployment').spec.replicas, kindOf(plain, 'Deployment').spec.replicas)
  assert.deepEqual(kindOf(chart, 'Service').spec.ports, kindOf(plain, 'Service').spec.ports)
})

test('the objects of a release find each other, and those of another release do not', () => {
  for (const release of ['posthorn', 'mail']) {
    const objects = renderChart({ ingress: { enabled: true } }, release)
    const { selector, template } = kindOf(objects, 'Deployment').spec
    const expected = { 'app.kubernetes.io/name': 'posthorn', 'app.kubernetes.io/instance': release }
    assert.deepEqual(selector.matchLabels, expected)
    assert.deepEqual(kindOf(objects, 'Service').spec.selector, expected)
    assert.deepEqual(kindOf(objects, 'PodDisruptionBudget').spec.selector.matchLabels, expected)
    assert.deepEqual(podOf(objects).topologySpreadConstraints[0].labelSelector.matchLabels, expected)
    for (const [name, value] of Object.entries(expected)) assert.equal(template.metadata.labels[name], value)
    const name = release === 'mail' ? 'mail-posthorn' : 'posthorn'
    assert.deepEqual([...new Set(objects.map(({ metadata }) => metadata.name))], [name])
    const [rule] = kindOf(objects, 'Ingress').spec.rules
    assert.deepEqual(rule.http.paths[0].backend.service, { name, port: { name: 'http' } })
  }
})

test('values change image, size, variables, ingress and where pods run', () => {
  const objects = renderChart({
    image: { repository: 'r.example/p', tag: '9.9.9', pullSecrets: ['one'] },
    replicas: 5,
    existingSecret: 'other',
    env: { POSTHORN_RETENTION_DAYS: '30' },
    resources: { limits: { memory: '4Gi' } },
    ingress: { enabled: true, className: 'nginx', tlsSecret: 'certificate', host: 'n.example' },
    disruptionBudget: { enabled: false },
    nodeSelector: { disk: 'fast' },
    podAnnotations: { note: 'yes' },
  })
  const pod = podOf(objects)
  const [container] = pod.containers
  assert.equal(container.image, 'r.example/p:9.9.9')
  assert.deepEqual(pod.imagePullSecrets, [{ name: 'one' }])
  assert.deepEqual(container.envFrom, [{ secretRef: { name: 'other' } }])
  assert.deepEqual(container.env.at(-1), { name: 'POSTHORN_RETENTION_DAYS', value: '30' })
  assert.deepEqual(
    container.env.map(({ name }: Json) => name).filter((name: string) => !variables.has(name)),
    [],
  )
  assert.equal(container.resources.limits.memory, '4Gi')
  assert.deepEqual(pod.nodeSelector, { disk: 'fast' })
  assert.equal(kindOf(objects, 'Deployment').spec.replicas, 5)
  assert.equal(kindOf(objects, 'PodDisruptionBudget'), undefined)
  const { spec } = kindOf(objects, 'Ingress')
  assert.deepEqual(spec.tls, [{ hosts: ['n.example'], secretName: 'certificate' }])
  assert.equal(spec.ingressClassName, 'nginx')
  const byDigest = podOf(renderChart({ image: { digest: 'sha256:abc' } })).containers[0].image
  assert.equal(byDigest, 'registry.example.com/posthorn@sha256:abc')
  assert.throws(() => renderChart({ existingSecret: '' }), /DATABASE_URL/)
})

test('no secret is a value of the chart, and its version is that of the project', () => {
  const values = parse(readProjectFile('deploy/helm/posthorn/values.yaml'))
  assert.doesNotMatch(JSON.stringify(values), /password|postgres:|"[A-Za-z0-9+/]{43}="/)
  const { version, appVersion } = parse(readProjectFile('deploy/helm/posthorn/Chart.yaml'))
  const ours = JSON.parse(readProjectFile('package.json')).version
  assert.deepEqual([version, appVersion], [ours, ours])
})
