// npm run try-kubernetes: the manifests and the rendered chart against the schemas of Kubernetes, which npm's kubernetes-models has.
// Too large (some 40 MB) to be a dependency, so it is installed in a folder of its own for the run.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../package/installed.ts'
import type { Json } from '../support/app.ts'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'
import { renderChart } from './chart.ts'

const folder = mkdtempSync(join(tmpdir(), 'posthorn-kubernetes-'))
const plain = parseAllDocuments(readProjectFile('deploy/kubernetes/posthorn.yaml')).map((document) => document.toJS())
const all = {
  'deploy/kubernetes': plain,
  'the chart': renderChart(),
  'the chart with every value': renderChart({
    image: { digest: `sha256:${'0'.repeat(64)}`, pullSecrets: ['registry'] },
    env: { POSTHORN_RETENTION_DAYS: '30' },
    ingress: { enabled: true, className: 'nginx', tlsSecret: 'certificate' },
    podAnnotations: { note: 'yes' },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'mail', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
  }),
}

try {
  writeFileSync(join(folder, 'package.json'), '{}')
  const installed = await run(
    'npm',
    ['install', 'kubernetes-models', '--ignore-scripts', '--no-audit', '--no-fund'],
    folder,
  )
  assert.equal(installed.code, 0, installed.output)
  const require = createRequire(join(folder, 'package.json'))
  const objects = Object.entries<Json[]>(all).flatMap(([name, some]) => some.map((object) => ({ name, object })))
  for (const { name, object } of objects) {
    const { [object.kind]: Model } = require(`kubernetes-models/${object.apiVersion}/${object.kind}`)
    new Model(object).validate()
    assert.throws(() => new Model({ ...object, spec: { ...object.spec, selector: 4, rules: 4 } }).validate())
    console.log(`✔ ${name}: ${object.kind} fits its schema`)
  }
  // The schemas let unknown members pass; the types do not.
  const literals = objects.map(
    ({ object }, index) =>
      `import type { I${object.kind} as Kind${index} } from 'kubernetes-models/${object.apiVersion}/${object.kind}'\n` +
      `export const object${index}: Kind${index} = ${JSON.stringify(object)}\n`,
  )
  assert.equal((await compiled(literals.join(''))).output, '')
  const misspelt = await compiled(literals.join('').replace('"readinessProbe"', '"readinesProbe"'))
  assert.match(misspelt.output, /readinesProbe/)
  console.log('✔ no member is unknown')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function compiled(text: string) {
  writeFileSync(join(folder, 'objects.mts'), text)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.mts'] }))
  const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
  return run(process.execPath, [compiler, '-p', '.'], folder)
}
