// npm run try-kubernetes: the manifests and the Helm chart against the schemas of Kubernetes.
import './node-version.mjs'
import { runScript, runToEnd } from './child.mjs'
import { ensureInstalled, projectRoot } from './ensure.mjs'

await runScript(async () => {
  await ensureInstalled()
  return await runToEnd(process.execPath, ['--import', 'tsx', 'test/deploy/kubernetes.ts'], { cwd: projectRoot })
})
