// npm run try-image: builds the Dockerfile with buildah and runs it with podman, as compose.yaml would, on a base that is made here.
// For machines that reach no registry of images: the base is Debian 12 by debootstrap, with Node 22 and npm 10 from npm.
// Needs root, and Debian's buildah, podman, runc, catatonit and debootstrap.
import './node-version.mjs'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runQuietly, runScript, SetupProblem, sleep } from './child.mjs'
import { projectRoot } from './ensure.mjs'

const readyMsMax = 60_000
const certificates = 'etc/ssl/certs/ca-certificates.crt'

await runScript(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-image-'))
  const storage = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run')]
  const buildah = (...args) => done('buildah', [...storage, ...args])
  const podman = (...args) => done('podman', [...storage, '--cgroup-manager=cgroupfs', '--runtime=runc', ...args])
  try {
    const base = join(folder, 'base')
    await step('Base: Debian 12 with Node 22', () => makeBase(base, folder))
    await step('Base as an image', async () => {
      const container = await buildah('from', 'scratch')
      await buildah('add', container, base, '/')
      await buildah('config', '--env', `NODE_EXTRA_CA_CERTS=/${certificates}`, '--cmd', 'node', container)
      await buildah('commit', '-q', '--rm', container, 'localhost/base:22')
    })
    const given = [
      '--build-arg',
      'NODE_IMAGE=localhost/base:22',
      '--pull-never',
      '--isolation',
      'chroot',
      '--format',
      'docker',
    ]
    await step('Every step of the Dockerfile', () =>
      buildah('bud', ...given, '-t', 'localhost/posthorn:trial', projectRoot),
    )
    await step('The image, run', () => tryContainer(podman))
    console.log('All of it worked.')
  } finally {
    await runQuietly('podman', [...storage, 'rm', '--all', '--force', '--time', '5'], { cwd: projectRoot })
    await runQuietly('buildah', [...storage, 'rm', '--all'], { cwd: projectRoot })
    rmSync(folder, { recursive: true, force: true })
  }
})

async function step(name, work) {
  const startedAt = performance.now()
  await work()
  console.log(`✔ ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
}

/** The last line of what a command printed. */
async function done(command, args, cwd = projectRoot) {
  const { code, output, error } = await runQuietly(command, args, { cwd })
  if (code !== 0)
    throw new SetupProblem(
      `${output ?? ''}\n${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error}`}`,
    )
  return output.trim().split('\n').at(-1) ?? ''
}

/** What the official image has of what the Dockerfile uses: node, npm, and the user 1000. */
async function makeBase(base, folder) {
  await done('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', base])
  for (const [name, place] of [
    [`node-linux-${process.arch}@22`, 'node'],
    ['npm@10', 'npm'],
  ]) {
    const into = join(folder, place)
    mkdirSync(into)
    await done('npm', ['pack', name, '--silent', '--pack-destination', into], into)
    await done('tar', ['-xzf', join(into, readdirSync(into)[0])], into)
  }
  const local = join(base, 'usr', 'local')
  cpSync(join(folder, 'node', 'package', 'bin', 'node'), join(local, 'bin', 'node'))
  mkdirSync(join(local, 'lib', 'node_modules'), { recursive: true })
  renameSync(join(folder, 'npm', 'package'), join(local, 'lib', 'node_modules', 'npm'))
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'))
  await done('chroot', [base, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node'])
  // Where the network has an authority of its own, npm in the container has to know it.
  if (process.env.NODE_EXTRA_CA_CERTS) cpSync(process.env.NODE_EXTRA_CA_CERTS, join(base, certificates))
}

/** With the limits of compose.yaml and the embedded database; a second start finds what the first stored. */
async function tryContainer(podman) {
  const port = await freePort()
  const limits = [
    '--read-only',
    '--tmpfs=/tmp',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--memory=2g',
    '--pids-limit=512',
  ]
  const place = [
    '--init',
    '--network=host',
    '-e',
    'HOST=127.0.0.1',
    '-e',
    `PORT=${port}`,
    '-v',
    'data:/var/lib/posthorn',
  ]
  // Fewer than the engine's own, which it may not raise everywhere.
  const numbers = ['--ulimit=nofile=8192:8192', '--ulimit=nproc=4096:4096']
  const keys = []
  for (const name of ['first', 'second']) {
    await podman('run', '-d', '--name', name, ...limits, ...place, ...numbers, 'localhost/posthorn:trial')
    await ready(port)
    await podman('healthcheck', 'run', name)
    const user = await podman('exec', name, 'id', '-u')
    if (user !== '1000') throw new SetupProblem(`It runs as ${user}.`)
    const writing = await podman('exec', name, 'sh', '-c', 'touch /app/x 2>/dev/null && echo yes || echo no')
    if (writing !== 'no') throw new SetupProblem('Its root can be written.')
    keys.push(await podman('exec', name, 'sha256sum', '/var/lib/posthorn/encryption.key'))
    await podman('stop', '-t', '40', name)
    const code = await podman('inspect', name, '--format', '{{.State.ExitCode}}')
    if (code !== '0') throw new SetupProblem(`It ended with ${code}.`)
    await podman('rm', name)
  }
  if (keys[0] !== keys[1]) throw new SetupProblem('The second start did not find the data of the first.')
}

async function ready(port) {
  for (const startedAt = performance.now(); ; await sleep(100)) {
    const status = await fetch(`http://127.0.0.1:${port}/ready`).then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 200) return
    if (performance.now() - startedAt > readyMsMax) throw new SetupProblem(`It was not ready within ${readyMsMax} ms.`)
  }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
